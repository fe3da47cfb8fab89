//! Agents' processes: how they are started and stopped, and which outcome their end has.

use super::alone::alone;
use super::claude::scripted;
use super::launched::{ended, launch_in, start};
use super::{opencode, opencode_server};
use std::time::{Duration, Instant};
use superpower::harness::*;
use superpower::outcome::{Outcome, Session};

fn claude_with(script: &str, change: impl FnOnce(&mut Launch)) -> (Vec<Signal>, Ending) {
    let dir = tempfile::tempdir().unwrap();
    let mut launch = launch_in(dir.path());
    change(&mut launch);
    let (_running, signals) = start("claude", &scripted(dir.path(), script), launch);
    ended(&signals)
}

fn claude(script: &str) -> Ending {
    claude_with(script, |_| {}).1
}

fn command_with(script: &str, change: impl FnOnce(&mut Launch, &mut Harnesses)) -> (Vec<Signal>, Ending) {
    let dir = tempfile::tempdir().unwrap();
    let mut harnesses = Harnesses::default();
    harnesses.named.get_mut("command").unwrap().cmd = ["sh", "-c", script].map(ToOwned::to_owned).to_vec();
    let mut launch = launch_in(dir.path());
    change(&mut launch, &mut harnesses);
    let (_running, signals) = start("command", &harnesses, launch);
    ended(&signals)
}

fn command(script: &str) -> Ending {
    command_with(script, |_, _| {}).1
}

fn failed(ending: &Ending) -> &str {
    match &ending.outcome {
        Outcome::Failed { why } | Outcome::Exited { why } => why,
        other => panic!("{other:?}"),
    }
}

fn notes(signals: &[Signal]) -> Vec<&str> {
    let note = |signal| match signal {
        &Signal::Progress(Progress::Note { ref text }) => Some(text.as_str()),
        _ => None,
    };
    signals.iter().filter_map(note).collect()
}

#[test]
fn a_hidden_prompt_is_stopped_by_the_idle_limit() {
    let script = "init()\nprint('Allow this? [y/N]', flush=True)\ntime.sleep(600)";
    let ending = claude_with(script, |launch| launch.idle = Some(Duration::from_secs(3))).1;
    assert_eq!(failed(&ending), "silent for 3s");
    assert!(ending.tail.contains("Allow this? [y/N]"));
}

#[test]
fn silence_does_not_count_during_a_tool_call_or_permission_request() {
    let dir = tempfile::tempdir().unwrap();
    let script = r#"
init()
tool("t1", "Bash", command="make")
time.sleep(3.5)
result_of("t1")
ask("r1", "t2", "Bash", command="make test")
result()
rest()
"#;
    let launch = Launch { idle: Some(Duration::from_secs(3)), ..launch_in(dir.path()) };
    let (running, signals) = start("claude", &scripted(dir.path(), script), launch);
    while !matches!(signals.recv().unwrap(), Signal::Asked(_)) {}
    std::thread::sleep(Duration::from_millis(3500));
    running.answer("r1", Answer::Once);
    assert_eq!(ended(&signals).1.outcome, Outcome::Passed);
}

#[test]
fn an_agent_that_reads_all_its_input_finishes() {
    assert_eq!(command("cat >/dev/null; echo done").message, "done");
    assert_eq!(opencode::run("answer(prompt)", |_| {}).1.message, "do it");
    assert_eq!(claude("init()\nresult('over')\nassert recv() is None").message, "over");
}

#[test]
fn an_agent_that_never_reads_its_input_finishes() {
    let ending = command_with("echo done", |launch, _| launch.prompt = "x".repeat(4 << 20)).1;
    assert_eq!(ending.message, "done");
}

#[test]
fn a_limit_reported_as_success_is_a_limit() {
    let script = "init()\nsend(type='result', subtype='success', is_error=False, num_turns=1, usage={'output_tokens': 0},
      result='Claude AI usage limit reached|4102444800')\nrest()";
    let Outcome::Limited { why, until } = claude(&script.replace("4102444800", &soon())).outcome else {
        panic!()
    };
    assert!(why.contains("usage limit reached") && until.is_some(), "{why}");
}

fn soon() -> String {
    (chrono::Utc::now().timestamp() + 3600).to_string()
}

#[test]
fn the_final_event_outranks_the_exit_status_both_ways() {
    let error = "init()\nsend(type='result', subtype='success', is_error=True, result='API Error: 400 x', api_error_status=400)\nrest()\nsys.exit(0)";
    assert_eq!(failed(&claude(error)), "API Error: 400 x");
    assert_eq!(claude("init()\nresult('fine')\nrest()\nsys.exit(1)").outcome, Outcome::Passed);
    let recovered = "print(json.dumps({'type': 'error', 'sessionID': 's', 'error': {'name': 'APIError', 'data': {'message': 'x', 'statusCode': 500}}}))\nanswer('fine')\nsys.exit(1)";
    assert_eq!(opencode::run(recovered, |_| {}).1.outcome, Outcome::Passed);
    let fatal = "send('step_start'); step('tool-calls')\nprint(json.dumps({'type': 'error', 'sessionID': 's', 'error': {'name': 'APIError', 'data': {'message': 'gone', 'statusCode': 404}}}))";
    assert_eq!(failed(&opencode::run(fatal, |_| {}).1), "gone (404)");
}

#[test]
fn an_agent_that_ignores_sigterm_is_killed_with_a_note() {
    let spin = "trap '' TERM; while :; do :; done";
    let (before, ending) = command_with(spin, |launch, _| launch.timeout = Some(Duration::from_millis(300)));
    assert_eq!(failed(&ending), "ran longer than 300ms");
    assert_eq!(notes(&before), ["the agent was stopped (SIGKILL)"]);
    let (before, _) =
        command_with("sleep 600", |launch, _| launch.timeout = Some(Duration::from_millis(100)));
    assert_eq!(notes(&before), ["the agent was stopped (SIGTERM)"]);
}

#[test]
fn an_agent_that_stays_after_its_result_is_stopped_and_the_result_counts() {
    let begun = Instant::now();
    let ending = claude(
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\ninit()\nresult('fine')\nwhile True: time.sleep(60)",
    );
    assert_eq!((ending.outcome, &*ending.message), (Outcome::Passed, "fine"));
    assert!(begun.elapsed() < Duration::from_secs(9), "{:?}", begun.elapsed());
}

#[test]
fn a_missing_project_directory_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let launch = Launch { root: dir.path().join("worktree"), ..launch_in(dir.path()) };
    let mut harnesses = Harnesses::default();
    harnesses.named.get_mut("command").unwrap().cmd = vec!["true".to_owned()];
    let error = superpower::harness::launch(&resolve("command", &harnesses, None).unwrap(), launch, |_| {})
        .unwrap_err();
    assert!(error.to_string().contains("worktree\" does not exist"), "{error}");
}

#[test]
fn a_session_of_another_harness_is_not_resumed() {
    let script = "assert '--resume' not in sys.argv\ninit()\nresult('fresh')\nrest()";
    let session = Session { harness: "opencode".to_owned(), id: "ses_1".to_owned() };
    assert_eq!(claude_with(script, |launch| launch.session = Some(session)).1.message, "fresh");
}

#[test]
fn environment_variables_of_an_outer_agent_are_removed() {
    let name = "agent_processes::environment_variables_of_an_outer_agent_are_removed";
    alone(name, &[("CLAUDECODE", "1"), ("NVIM", "/tmp/nvim.sock")], || {
        assert_eq!(command("echo \"[$CLAUDECODE$NVIM]\"").message, "[]");
    });
}

#[test]
fn a_prompt_of_2_mib_arrives_byte_for_byte() {
    let prompt: String = (0..2 << 20).map(|i| char::from(b' ' + (i % 94) as u8)).collect();
    let script = "import hashlib\nresult(hashlib.sha256(init().encode()).hexdigest())\nrest()";
    let expected: String = <sha2::Sha256 as sha2::Digest>::digest(prompt.as_bytes())
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect();
    assert_eq!(claude_with(script, |launch| launch.prompt = prompt.clone()).1.message, expected);
    let command = command_with("sha256sum | cut -d' ' -f1", |launch, _| launch.prompt = prompt.clone()).1;
    assert_eq!(command.message, expected);
}

#[test]
fn the_ending_lists_refused_permissions() {
    let script = "init()\nask('r1', 't1', 'Bash', command='make')\nresult('I could not')\nrest()";
    let ending = claude_with(script, |launch| launch.interactive = false).1;
    assert!(ending.refusals[0].starts_with("Bash make"), "{:?}", ending.refusals);
}

#[test]
fn the_exact_arguments_are_recorded_and_no_shell_is_used() {
    let dir = tempfile::tempdir().unwrap();
    let mut harnesses = Harnesses::default();
    let cmd = ["echo", "$HOME", "`id`", "{agent}"].map(ToOwned::to_owned);
    harnesses.named.get_mut("command").unwrap().cmd = cmd.to_vec();
    let (_running, signals) = start("command", &harnesses, launch_in(dir.path()));
    assert_eq!(ended(&signals).1.message, "$HOME `id` coder");
    let record = std::fs::read_to_string(dir.path().join("processes.jsonl")).unwrap();
    let record: Vec<serde_json::Value> =
        record.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(record[0]["argv"][0].as_str().unwrap().ends_with("/echo"), "{record:?}");
    assert_eq!(record[0]["argv"].as_array().unwrap()[1..], ["$HOME", "`id`", "coder"]);
    assert_eq!(record[1..], [serde_json::json!({ "code": 0 })]);
}

#[test]
fn time_limits_apply_to_every_harness_with_a_process() {
    let short = |launch: &mut Launch| launch.timeout = Some(Duration::from_millis(500));
    assert_eq!(failed(&claude_with("init()\ntime.sleep(60)", short).1), "ran longer than 500ms");
    assert_eq!(failed(&opencode::run("time.sleep(60)", short).1), "ran longer than 500ms");
    assert_eq!(failed(&command_with("sleep 60", |launch, _| short(launch)).1), "ran longer than 500ms");
}

#[test]
fn an_agent_is_told_to_finish_before_its_time_ends() {
    let soon = |launch: &mut Launch| launch.timeout = Some(Duration::from_secs(5));
    let claude = "init()\ntool('t1', 'Bash', command='make')\nmore = recv()\nresult_of('t1')\nresult(more['message']['content'])\nrest()";
    let server = "prompts = 0\ndef work(body):\n    global prompts\n    prompts += 1\n    if prompts == 1: say('I begin.'); tool('running', input={})\n    else: tool('completed', input={}); done(body['parts'][0]['text'])";
    for (signals, ending) in
        [claude_with(claude, soon), opencode_server::play(server, |launch, _| soon(launch)).ended()]
    {
        assert_eq!(ending.outcome, Outcome::Passed, "{}", ending.tail);
        assert!(
            ending.message.starts_with("Your time is nearly up: this attempt ends in "),
            "{}",
            ending.message
        );
        assert!(notes(&signals).iter().any(|note| note.starts_with("told the agent to finish: ")));
    }
}

#[test]
fn a_limit_without_a_time_says_that_its_end_is_unknown() {
    let script = "init()\nsend(type='result', subtype='success', is_error=True, api_error_status=429, result='Some new words')\nrest()";
    let Outcome::Limited { why, until } = claude(script).outcome else { panic!() };
    assert_eq!((&*why, until), ("Some new words; its end is unknown", None));
    let event = "init()\nsend(type='rate_limit_event', rate_limit_info={'status': 'rejected', 'resetsAt': SOON, 'rateLimitType': 'five_hour'})\nsend(type='result', subtype='success', is_error=True, api_error_status=429, result='no')\nrest()";
    let Outcome::Limited { until, .. } = claude(&event.replace("SOON", &soon())).outcome else { panic!() };
    assert!(until.is_some());
}

#[test]
fn no_final_event_is_a_failure() {
    assert_eq!(failed(&claude("init()\nsay('half of it')")), "no final event (exit status 0)");
    let half = opencode::run("send('step_start'); send('text', text='half of it')", |_| {}).1;
    assert_eq!(failed(&half), "no final event (exit status 0)");
    assert!(half.tail.contains("half of it"));
}

#[test]
fn endless_output_without_line_breaks_is_read_in_constant_memory() {
    let name = "agent_processes::endless_output_without_line_breaks_is_read_in_constant_memory";
    alone(name, &[], a_long_line_is_read);
}

fn a_long_line_is_read() {
    let size: u64 = if std::env::var_os("SUPERPOWER_LONG").is_some() { 1 << 30 } else { 96 << 20 };
    let script = format!("head -c {size} /dev/zero | tr '\\0' x; echo; echo end");
    let before = peak();
    let (signals, ending) = command_with(&script, |launch, harnesses| {
        harnesses.max_output = 1 << 20;
        launch.timeout = Some(Duration::from_secs(100));
    });
    assert_eq!(ending.outcome, Outcome::Passed);
    assert!(ending.message.ends_with("end") && ending.message.len() < 2 << 20);
    assert!(notes(&signals).iter().any(|note| note.starts_with("a line was cut")), "{:?}", notes(&signals));
    assert!(peak() - before < 80 << 20, "{} MiB more", (peak() - before) >> 20);
}

/// The peak memory use of this process.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
}
