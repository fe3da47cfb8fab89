//! Cases of the real tools in one table: always read from recordings, and played with the tools if they are installed.
//!
//! `scripts/record-harnesses` installs the tools, plays every case offline with a fake model, compares the outcomes with
//! this table, and stores the output under `tests/fixtures/transcripts/`. A recording is `output.log`, shortened, with
//! the paths replaced by `/project` and `/home/user`.

use super::launched::{ended, launch_in, start};
use super::recorded_cases::{CASES, Case, Reply};
use super::transcripts::{Read, is_as, words};
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;
use superpower::harness::*;
use superpower::outcome::Session;
use superpower::process::Exit;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/transcripts")
}

/// The launch of a case, in `root`.
fn launch_of(case: &Case, root: &Path, dir: &Path) -> Launch {
    let name = |name: &str| name.to_owned();
    let task = case
        .task
        .strip_prefix('/')
        .map_or_else(|| Task::Agent(name(case.task)), |skill| Task::Skill(name(skill)));
    let session = case.session.map(|id| Session { harness: case.tool.to_owned(), id: id.to_owned() });
    Launch {
        task,
        session,
        // The name identifies its requests in the model's log.
        prompt: format!("[{}] {}", case.name, case.prompt),
        root: root.to_path_buf(),
        interactive: case.reply != Reply::Nobody,
        timeout: Some(Duration::from_secs(150)),
        ..launch_in(dir)
    }
}

/// A case's project: agents and skills of both tools.
fn write_project(root: &Path) {
    let files = [
        (
            ".claude/agents/implementer.md",
            "---\nname: implementer\ndescription: writes code\n---\nYou are the IMPLEMENTER.\n",
        ),
        (
            ".claude/agents/reviewer.md",
            "---\nname: reviewer\ndescription: reads code\n---\nYou are the REVIEWER.\n",
        ),
        (
            ".claude/skills/write-spec/SKILL.md",
            "---\nname: write-spec\ndescription: writes a spec\n---\nWrite the SPECIFICATION of $ARGUMENTS\n",
        ),
        (
            ".opencode/agents/builder.md",
            "---\ndescription: builds\nmode: primary\n---\nYou are the BUILDER.\n",
        ),
        (
            ".opencode/agents/checker.md",
            "---\ndescription: checks\nmode: subagent\n---\nYou are the CHECKER.\n",
        ),
        ("README.md", "# Sample\n"),
    ];
    for (path, text) in files {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

#[test]
fn every_recording_has_the_outcome_of_the_table() {
    let mut wrong = Vec::new();
    for case in CASES {
        let read = replay(case);
        let got = words(&read);
        if !is_as(&got, case.expected) {
            wrong.push(format!("{}: {got}\n  instead of {}", case.name, case.expected));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let recorded = std::fs::read_dir(fixtures()).unwrap().flatten();
    let known = |name: &str| CASES.iter().any(|case| name.strip_suffix(".log") == Some(case.name));
    let strange: Vec<_> = recorded
        .map(|e| e.file_name().into_string().unwrap())
        .filter(|n| n.ends_with(".log") && !known(n))
        .collect();
    assert!(strange.is_empty(), "recordings without a case: {strange:?}");
}

#[test]
fn no_damaged_line_causes_a_panic() {
    let spoilers =
        [json!(null), json!(true), json!(-7.5), json!("x"), json!([1, "a", {"b": []}]), json!({"type": 3})];
    for tool in ["claude", "opencode"] {
        let case = CASES.iter().find(|case| case.tool == tool).unwrap();
        let mut harnesses = Harnesses::default();
        harnesses.named.get_mut(tool).unwrap().cmd = vec!["/bin/true".to_owned()];
        let launch = launch_of(case, Path::new("/project"), Path::new("/project"));
        let mut harness =
            of(&resolve(tool, &harnesses, None).unwrap(), &launch, &superpower::process::Secrets::default());
        harness.invocation();
        let mut read = |line: &str| {
            let mut to = Actions::default();
            harness.line(line, 0, &mut to);
            harness.error_line(line, &mut to);
        };
        for file in std::fs::read_dir(fixtures()).unwrap().flatten() {
            let text = std::fs::read_to_string(file.path()).unwrap();
            for line in text.lines().filter(|line| line.starts_with('{') && line.len() < 2000).step_by(5) {
                (0..line.len())
                    .step_by(397)
                    .filter(|at| line.is_char_boundary(*at))
                    .for_each(|at| read(&line[..at]));
                let whole: Value = serde_json::from_str(line).unwrap();
                for spoiler in &spoilers {
                    each_spoilt(&whole, spoiler, &mut |value| read(&value.to_string()));
                }
            }
        }
        harness.end(&End { exit: Exit::Code(0), stopped: None }, &mut Actions::default());
    }
}

/// The value with each of its fields, at two levels, replaced.
fn each_spoilt(value: &Value, spoiler: &Value, each: &mut impl FnMut(&Value)) {
    let Value::Object(map) = value else { return };
    for (name, inner) in map {
        let mut spoilt = value.clone();
        spoilt[name] = spoiler.clone();
        each(&spoilt);
        for key in inner.as_object().into_iter().flat_map(|inner| inner.keys()) {
            let mut spoilt = value.clone();
            spoilt[name][key] = spoiler.clone();
            each(&spoilt);
        }
    }
}

/// Reads a recording as if it were live.
pub fn replay(case: &Case) -> Read {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("project");
    write_project(&root);
    let mut launch = launch_of(case, &root, dir.path());
    launch.root = root;
    let mut harnesses = Harnesses::default();
    let settings = harnesses.named.get_mut(case.tool).unwrap();
    settings.cmd = vec!["/bin/true".to_owned()];
    settings.args = case.args.iter().map(|&arg| arg.to_owned()).collect();
    let mut harness =
        of(&resolve(case.tool, &harnesses, None).unwrap(), &launch, &superpower::process::Secrets::default());
    let text = std::fs::read_to_string(fixtures().join(format!("{}.log", case.name)))
        .unwrap_or_else(|e| panic!("{}: {e}; run scripts/record-harnesses", case.name));
    // A session continues where it started.
    let text = text.replace("/project", launch.root.canonicalize().unwrap().to_str().unwrap());
    let mut all = Actions::default();
    let mut runs = text.split("\u{c}").peekable();
    // A second start is recorded as a second recording.
    while let Some(run) = runs.next() {
        harness.invocation();
        let (mut exit, mut stopped) = (Exit::Code(0), None);
        for line in run.lines() {
            if let Some(value) = line.strip_prefix("exit: ") {
                exit = exit_of(&serde_json::from_str(value).unwrap());
                continue;
            }
            let mut to = Actions::default();
            if stopped.is_some() {
                continue;
            }
            match line.strip_prefix("stderr: ") {
                Some(line) => harness.error_line(line, &mut to),
                None => harness.line(line, 0, &mut to),
            }
            while let Some(Signal::Asked(question)) =
                to.signals.iter().rev().find(|s| matches!(s, Signal::Asked(_))).cloned()
            {
                to.signals.clear();
                harness.answer(&question.id, &case.reply.answer(), &mut to);
            }
            if to.stop {
                stopped = Some(Stopped::Harness);
            }
            all.signals.append(&mut to.signals);
        }
        if case.stop.is_some() && runs.peek().is_none() {
            stopped = Some(Stopped::Asked);
        }
        if let Some(ending) = harness.end(&End { exit, stopped }, &mut all) {
            return Read { signals: all.signals, ending: Some(ending) };
        }
    }
    Read { signals: all.signals, ending: None }
}

fn exit_of(value: &Value) -> Exit {
    let number = |key: &str| value[key].as_i64().map(|n| n as i32);
    number("code").map(Exit::Code).or_else(|| number("signal").map(Exit::Signal)).unwrap_or(Exit::Stuck)
}

/// Plays every case with the real tools, in the namespace of `scripts/agents/play.sh`.
#[test]
#[ignore = "plays the real tools: scripts/record-harnesses"]
fn every_case_behaves_like_this_with_the_real_tools() {
    let tools = std::env::var_os("SUPERPOWER_AGENTS").map(PathBuf::from).expect("the tools' folder");
    let only = std::env::var("SUPERPOWER_ONLY").unwrap_or_default();
    let home = tempfile::tempdir().unwrap();
    prepare(home.path());
    let cases: Vec<&Case> = CASES.iter().filter(|case| case.name.contains(&only)).collect();
    let queue = Mutex::new(cases.iter());
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                loop {
                    let Some(case) = queue.lock().unwrap().next() else { break };
                    let got = play(case, &tools, home.path());
                    let _ = writeln!(std::io::stdout(), "{}: {got}", case.name);
                    if !is_as(&got, case.live.unwrap_or(case.expected)) {
                        wrong
                            .lock()
                            .unwrap()
                            .push(format!("{}: {got}\n  instead of {}", case.name, case.expected));
                    }
                }
            });
        }
    });
    let mut wrong = wrong.into_inner().unwrap();
    wrong.extend(unheard(&cases));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Text that the model must have received in a case; empty for none.
const HEARD: &[(&str, &str)] = &[
    ("claude-agent", "You are the IMPLEMENTER."),
    ("claude-agent-of-opencode", "You are the BUILDER."),
    ("claude-agent-unknown", ""),
    ("claude-skill", "Write the SPECIFICATION of [claude-skill] Go."),
    ("claude-skill-unknown", ""),
    ("claude-resumed", "You are the IMPLEMENTER."),
    ("opencode-agent", "You are the BUILDER."),
    ("opencode-agent-made-primary", "You are the CHECKER."),
    ("opencode-agent-of-claude", "You are the IMPLEMENTER."),
    ("opencode-agent-unknown", ""),
    ("opencode-skill", "Write the SPECIFICATION of"),
    ("opencode-resumed", "You are the BUILDER."),
    ("opencode-served-agent", "You are the BUILDER."),
    ("opencode-served-agent-made-primary", "You are the CHECKER."),
    ("opencode-served-agent-of-claude", "You are the IMPLEMENTER."),
    ("opencode-served-agent-unknown", ""),
    ("opencode-served-skill", "Write the SPECIFICATION of"),
    ("opencode-served-skill-filled", "with !`touch filled.txt` and @README.md"),
    ("opencode-served-skill-unknown", ""),
    ("opencode-served-resumed", "You are the BUILDER."),
];

/// Cases in which the model did not receive the expected text.
fn unheard(cases: &[&Case]) -> Vec<String> {
    let log = std::env::var_os("SUPERPOWER_REQUESTS").expect("the model's log");
    let log = std::fs::read_to_string(log).unwrap_or_default();
    let requests: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let text = |request: &Value| {
        format!("{}\n{}", request["system"].as_str().unwrap(), request["words"].as_str().unwrap())
    };
    let wrong = |(name, heard): &&(&str, &str)| {
        let tag = format!("[{name}]");
        let told =
            requests.iter().filter(|request| request["words"].as_str().unwrap().contains(&tag)).map(text);
        let told: Vec<String> = told.collect();
        if heard.is_empty() { !told.is_empty() } else { !told.iter().any(|text| text.contains(heard)) }
    };
    let played = |(name, _): &&(&str, &str)| cases.iter().any(|case| case.name == *name);
    let said = |(name, heard): &(&str, &str)| format!("{name}: the model was not told {heard:?}");
    HEARD.iter().filter(played).filter(wrong).map(said).collect()
}

/// The tools' home directory and environment.
fn prepare(home: &Path) {
    let model = std::env::var("SUPERPOWER_MODEL").expect("the model's address");
    let provider = json!({"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": format!("{model}/v1"), "apiKey": "x"},
        "models": {"m": {"cost": {"input": 1, "output": 2}}, "s": {}}});
    let config = json!({"model": "fake/m", "small_model": "fake/s", "enabled_providers": ["fake"], "provider": {"fake": provider}});
    std::fs::write(home.join("allow.json"), config.to_string()).unwrap();
    let mut ask = config;
    ask["permission"] = json!({"edit": "ask", "bash": "ask"});
    std::fs::write(home.join("ask.json"), ask.to_string()).unwrap();
    let variables = [
        ("HOME", home.to_str().unwrap()),
        ("ANTHROPIC_BASE_URL", &model),
        ("ANTHROPIC_API_KEY", "a-made-up-key"),
        ("CLAUDE_CODE_MAX_RETRIES", "2"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
        ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
        ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
        ("OPENCODE_CONFIG", home.join("allow.json").to_str().unwrap()),
    ]
    .map(|(name, value)| (name, value.to_owned()));
    // SAFETY: no other thread of this process reads the environment through C yet.
    unsafe {
        for (name, value) in variables {
            std::env::set_var(name, value);
        }
        for name in
            ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "CLAUDE_CONFIG_DIR"]
        {
            std::env::remove_var(name);
        }
    }
}

/// Plays one case, prints the outcome, and records it on request.
fn play(case: &Case, tools: &Path, home: &Path) -> String {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap().join("project");
    write_project(&root);
    let mut harnesses = Harnesses::default();
    let settings = harnesses.named.get_mut(case.tool).unwrap();
    let binary = ["claude", "opencode"].into_iter().find(|tool| *tool == case.tool).unwrap();
    let home_text = home.to_str().unwrap();
    let around = case.around.iter().map(|word| word.replace("HOME", home_text));
    settings.cmd = around.chain([tools.join(binary).to_str().unwrap().to_owned()]).collect();
    settings.args = case.args.iter().map(|&arg| arg.to_owned()).collect();
    let mut ends: Vec<(usize, String)> = Vec::new();
    let mut launch = launch_of(case, &root, dir.path());
    if let Some(first) = case.first {
        // Creates the session to continue.
        let mut before = launch.clone();
        (before.prompt, before.session) = (first.to_owned(), None);
        let (_running, signals) = start(case.tool, &harnesses, before);
        let told = ended(&signals).0;
        let session = |signal: &Signal| {
            if let Signal::Session(session) = signal { Some(session.clone()) } else { None }
        };
        launch.session = told.iter().find_map(session);
        std::fs::remove_file(dir.path().join("output.log")).unwrap();
    }
    let kept = |name: &str| std::fs::read_to_string(dir.path().join(name)).unwrap_or_default();
    let exit = || kept("processes.jsonl").lines().last().unwrap_or_default().to_owned();
    let (running, signals) = start(case.tool, &harnesses, launch);
    let running = std::sync::Arc::new(running);
    let (mut told, mut stop) = (Vec::new(), case.stop);
    let ending = loop {
        let signal = signals.recv_timeout(Duration::from_secs(170)).expect("an end");
        match &signal {
            Signal::Asked(question) => running.answer(&question.id, case.reply.answer()),
            Signal::Progress(Progress::Tool { .. } | Progress::Text { .. }) => {
                if let (Some(after), running) = (stop.take(), running.clone()) {
                    std::thread::spawn(move || {
                        std::thread::sleep(Duration::from_millis(after));
                        running.stop();
                    });
                }
            }
            // A second start has a recording of its own.
            Signal::Started(_) if !told.is_empty() => ends.push((kept("output.log").len(), exit())),
            Signal::Ended(ending) => break ending.clone(),
            _ => {}
        }
        told.push(signal);
    };
    if std::env::var_os("SUPERPOWER_RECORD").is_some() {
        ends.push((usize::MAX, exit()));
        record(
            case,
            &kept("output.log"),
            &ends,
            &[(&root, "/project"), (home, "/home/user"), (dir.path(), "/scratch")],
        );
    }
    words(&Read { signals: told, ending: Some(ending) })
}

fn record(case: &Case, log: &str, ends: &[(usize, String)], places: &[(&Path, &str)]) {
    let (mut text, mut from) = (String::new(), 0);
    for (run, (to, exit)) in ends.iter().enumerate() {
        let to = (*to).min(log.len());
        text.push_str(if run > 0 { "\u{c}" } else { "" });
        log[from..to].lines().for_each(|line| text.push_str(&format!("{}\n", shortened(line))));
        text.push_str(&format!("exit: {exit}\n"));
        from = to;
    }
    for (path, name) in places {
        let path = path.to_str().unwrap();
        text = text.replace(path, name).replace(path.trim_start_matches('/'), name);
    }
    std::fs::create_dir_all(fixtures()).unwrap();
    std::fs::write(fixtures().join(format!("{}.log", case.name)), text).unwrap();
}

/// A shortened line with the same meaning.
fn shortened(line: &str) -> String {
    let Ok(mut value) = serde_json::from_str::<Value>(line) else { return line.to_owned() };
    shorten(&mut value);
    value.to_string()
}

fn shorten(value: &mut Value) {
    const TEXT: usize = 200;
    const LIST: usize = 4;
    match value {
        Value::String(text) => {
            // The stack trace of an error names the tool's own files.
            if let Some(at) = text.find("\n    at ") {
                text.replace_range(at.., "…");
            }
            if let Some((at, _)) = text.char_indices().nth(TEXT) {
                text.replace_range(at.., "…");
            }
        }
        Value::Array(items) => {
            items.truncate(
                if items.iter().all(|item| item.is_string() || item.get("description").is_some()) {
                    LIST * 2
                } else {
                    64
                },
            );
            items.iter_mut().for_each(shorten);
        }
        Value::Object(map) => {
            for name in [
                "available_output_styles",
                "models",
                "plugins",
                "capabilities",
                "terminal_slash_commands",
                "responseHeaders",
            ] {
                map.shift_remove(name);
            }
            if map.get("permission").is_some_and(Value::is_array) {
                map.shift_remove("permission");
            }
            if let Some(Value::String(text)) = map.get_mut("description")
                && let Some((at, _)) = text.char_indices().nth(60)
            {
                text.replace_range(at.., "…");
            }
            map.values_mut().for_each(shorten);
        }
        _ => {}
    }
}
