//! The example shop and the demo's agent: the files that they declare exist, and each stage writes the files that it expects.

use serde_yaml::Value;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::SystemTime;
use superpower::project::{Index, Places, expects};

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")
}

/// A copy of the shop, and its four declarations as read by another YAML parser.
fn shop() -> (tempfile::TempDir, PathBuf, Vec<(String, Value)>) {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap().join("shop");
    let copied = Command::new("cp").arg("-R").arg(examples().join("shop")).arg(&root).status().unwrap();
    assert!(copied.success());
    let index = Index::read(&root, &Places::default());
    let read = |file: &superpower::project::SuperpowerFile| {
        (file.name.clone(), serde_yaml::from_str(&fs::read_to_string(&file.path).unwrap()).unwrap())
    };
    let all = index.superpowers.iter().map(read).collect();
    (dir, root, all)
}

fn play(root: &Path, actor: &str, stage: usize, prompt: &str, env: &[(&str, &str)]) -> Output {
    let mut agent = Command::new(examples().join("demo/agent"));
    agent
        .args([actor, ""])
        .current_dir(root)
        .env("DEMO_PACE", "0")
        .env("SUPERPOWER_STAGE", stage.to_string());
    for name in ["DEMO_FAIL", "DEMO_STALL", "DEMO_ASK"] {
        agent.env_remove(name);
    }
    agent.envs(env.iter().copied()).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = agent.spawn().unwrap();
    child.stdin.take().unwrap().write_all(prompt.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

const INPUTS: &[(&str, &str)] = &[
    ("epic", "user-auth"),
    ("feature_slug", "change-address"),
    ("problem_statement", "People move house"),
    ("issue_number", "7"),
    ("http_method", "PUT"),
];

/// The inputs that a superpower declares, as the engine's prompt lists them, with the values above.
fn prompt(superpower: &Value) -> String {
    let declared = superpower["inputs"].as_sequence().unwrap();
    let value = |name: &str| INPUTS.iter().find(|(key, _)| *key == name).map_or("", |(_, value)| value);
    let lines = declared.iter().map(|input| {
        let name = input["name"].as_str().unwrap();
        format!("- {name}: {}\n", value(name))
    });
    format!("# x\n\n## Inputs\n\n{}\n## What is expected\n\n- nothing: more\n", lines.collect::<String>())
}

fn actor(stage: &Value) -> Option<&str> {
    let named = stage["agent"].as_str().or_else(|| stage["skill"].as_str());
    named.or_else(|| stage["pipeline"].as_str().map(|_| "orchestrator"))
}

#[test]
fn the_shop_declares_four_superpowers_whose_agents_and_skills_are_there() {
    let (_dir, root, all) = shop();
    let names: Vec<_> = all.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["api-endpoint", "bugfix", "design-refresh", "new-ui-feature"]);
    let index = Index::read(&root, &Places::default());
    for (name, superpower) in &all {
        for stage in superpower["stages"].as_sequence().unwrap() {
            let known = match (stage["skill"].as_str(), actor(stage)) {
                (Some(skill), _) => index.skill(skill).is_some(),
                (None, Some(agent)) => index.agent(agent).is_some(),
                (None, None) => stage["gate"].as_str() == Some("human-approval"),
            };
            assert!(known, "{name}: {stage:?}");
        }
    }
    assert!(index.agents.iter().chain(&index.skills).all(|named| !named.description.is_empty()));
    let stages = all[3].1["stages"].as_sequence().unwrap();
    let gates: Vec<_> = (1..=stages.len()).filter(|at| !stages[at - 1]["gate"].is_null()).collect();
    assert_eq!((stages.len(), gates), (13, vec![2, 5, 7, 10]));
}

#[test]
fn the_demos_agent_does_what_every_stage_expects() {
    let (_dir, root, all) = shop();
    for (name, superpower) in &all {
        let fill = |text: &str| {
            INPUTS
                .iter()
                .fold(text.to_owned(), |text, (key, value)| text.replace(&format!("{{{{{key}}}}}"), value))
        };
        for (at, stage) in superpower["stages"].as_sequence().unwrap().iter().enumerate() {
            let Some(actor) = actor(stage) else { continue };
            let began = SystemTime::now();
            let output = play(&root, actor, at + 1, &prompt(superpower), &[]);
            let said = String::from_utf8(output.stdout).unwrap();
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && !said.trim().is_empty(), "{name}: {actor}: {errors}");
            let globs: Vec<String> = match stage["expects"]["files"].as_sequence() {
                Some(files) => files.iter().map(|glob| fill(glob.as_str().unwrap())).collect(),
                None => vec![],
            };
            assert_eq!(expects::files_written_since(&root, &globs, began), [""; 0], "{name}: {actor}");
            if stage["expects"]["verdict"].as_str().is_some() {
                assert!(said.trim_end().ends_with("{\"verdict\": \"PASS\"}"), "{name}: {said}");
            }
        }
    }
    let story = root.join("docs/stories/user-auth/change-address-1/Story.md");
    assert!(story.is_file());
    let tests = Command::new("node").args(["--test", "test/"]).current_dir(&root).output();
    if let Ok(tests) = tests {
        assert!(tests.status.success(), "{}", String::from_utf8_lossy(&tests.stdout));
    }
}

#[test]
fn the_demos_agent_fails_stalls_and_asks_when_told_to() {
    let (_dir, root, _) = shop();
    let code =
        |stage, prompt: &str, env: &[(&str, &str)]| play(&root, "qa", stage, prompt, env).status.code();
    assert_eq!(code(4, "", &[("DEMO_FAIL", "4")]), Some(1));
    assert_eq!(code(4, "", &[("DEMO_FAIL", "qa")]), Some(1));
    assert_eq!(code(4, "", &[("DEMO_FAIL", "5")]), Some(0));
    let answered = "## What you are asked to do now\n\nAn hour.\n\n## What is expected\n";
    assert_eq!(code(4, answered, &[("DEMO_FAIL", "4")]), Some(0));
    let asked = play(&root, "qa", 4, "", &[("DEMO_ASK", "4")]);
    assert_eq!(asked.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&asked.stdout).trim_end().ends_with('?'));
    let answered = play(&root, "qa", 4, answered, &[("DEMO_ASK", "4")]);
    assert!(String::from_utf8_lossy(&answered.stdout).starts_with("You asked: An hour."));
    let mut stalled = Command::new(examples().join("demo/agent"))
        .arg("qa")
        .env("DEMO_STALL", "qa")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert!(stalled.try_wait().unwrap().is_none());
    stalled.kill().unwrap();
    stalled.wait().unwrap();
}

#[test]
fn the_shops_declarations_check_without_problems() {
    let (_dir, root, _) = shop();
    let index = Index::read(&root, &Places::default());
    let names =
        |list: &[superpower::project::Named]| Some(list.iter().map(|named| named.name.clone()).collect());
    for file in &index.superpowers {
        let context = superpower::check::Context {
            stem: Some(file.stem().to_owned()),
            agents: names(&index.agents),
            skills: names(&index.skills),
            ..Default::default()
        };
        let checked = superpower::check::check(&fs::read_to_string(&file.path).unwrap(), &context);
        assert_eq!(checked.lines(&file.name), [""; 0]);
        assert!(checked.declaration.is_some());
    }
}
