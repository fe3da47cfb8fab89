//! Runs in a process of their own: several editors, one driver.

use crate::clients::{Editor, Ends, LONG};
use crate::world::World;
use serde_json::{Value, json};
use std::process::Command;
use std::time::{Duration, Instant};
use superpower::server::socket_path::SocketPath;

fn gone(pid: u32) -> bool {
    superpower::process::record(pid).is_none()
}

pub fn wait_until(what: &str, enough: impl Fn() -> bool) {
    let end = Instant::now() + LONG;
    while !enough() {
        assert!(Instant::now() < end, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

pub const TWO_STAGES_AND_A_GATE: &str = "stages:
  - agent: coder
  - name: ask
    gate: human-approval
  - agent: closer
";

/// An agent that says that it works, and goes on when it is told to.
pub const WAITS: &str = "echo works > working-$1; while [ ! -e go-on ]; do sleep 0.01; done; echo done";

#[test]
fn a_run_goes_on_when_its_editor_is_gone_and_another_one_decides() {
    let world = World::new();
    world.declare("two", TWO_STAGES_AND_A_GATE);
    world.hook(WAITS);
    let mut first = Editor::of(&world);
    first.ok("run", json!({ "name": "two", "by": "ann" }));
    wait_until("the agent", || world.path("working-coder").exists());
    let _ends = Ends(first.driver().unwrap());
    first.leave();

    let mut second = Editor::of(&world);
    let status = second.ok("status", json!({}));
    assert_eq!(status["state"], "running");
    assert_eq!(status["ours"], true, "it is shown as live");
    assert_ne!(status["driver"]["pid"], std::process::id());
    world.write("go-on", "");
    second.wait_for("gate-opened");
    assert!(second.decide("approve").get("ok").is_some());
    assert_eq!(second.wait_for_state("complete")["state"], "complete");
    assert_eq!(world.calls(), ["coder", "closer"], "each stage was started once");
}

#[test]
fn two_editors_hear_the_gate_and_the_first_decision_wins() {
    let world = World::new();
    world.declare("two", TWO_STAGES_AND_A_GATE);
    let (mut one, mut other) = (Editor::of(&world), Editor::of(&world));
    one.ok("run", json!({ "name": "two", "by": "ann" }));
    let _ends = Ends(one.driver().unwrap());
    other.ok("status", json!({}));
    one.wait_for("gate-opened");
    other.wait("the gate", |event| {
        event["type"] == "gate-opened" || event["type"] == "snapshot" && event["run"]["state"] == "paused"
    });
    one.ok("review", json!({}));
    other.ok("review", json!({}));
    let approves = one.ask("decide", json!({ "decision": "approve", "by": "ann" }));
    let rejects = other.ask("decide", json!({ "decision": "reject", "by": "bob" }));
    let (approved, rejected) = (one.answer(approves), other.answer(rejects));
    let taken = [&approved, &rejected].iter().filter(|answer| answer.get("ok").is_some()).count();
    assert_eq!(taken, 1, "{approved} {rejected}");
    for editor in [&mut one, &mut other] {
        editor.until_heard("gate-decided");
        editor.until_heard("run-finished");
    }
}

#[test]
fn any_editor_cancels_and_the_last_descendant_ends() {
    let world = World::new();
    world.declare("one", "stages:\n  - agent: coder\n");
    world.hook("setsid sleep 1000 & echo $! > below; echo works > working; wait");
    let (mut one, mut other) = (Editor::of(&world), Editor::of(&world));
    one.ok("run", json!({ "name": "one", "by": "ann" }));
    let _ends = Ends(one.driver().unwrap());
    wait_until("the agent", || world.path("working").exists());
    let below: u32 = world.read("below").trim().parse().unwrap();
    other.ok("cancel", json!({ "by": "bob" }));
    one.wait_for_state("cancelled");
    wait_until("the descendant's end", || gone(below));
}

#[test]
fn a_killed_driver_leaves_an_interrupted_run_that_another_one_resumes() {
    let world = World::new();
    world.declare("one", "stages:\n  - agent: coder\n");
    world.hook(&format!("echo $$ > agent-process; {WAITS}"));
    let mut editor = Editor::of(&world);
    editor.ok("run", json!({ "name": "one", "by": "ann" }));
    wait_until("the agent", || world.path("working-coder").exists());
    let agent: u32 = world.read("agent-process").trim().parse().unwrap();
    let driver = editor.driver().unwrap();
    Command::new("kill").arg("-KILL").arg(driver.to_string()).status().unwrap();
    let told = editor.wait_for("driver-gone");
    assert_eq!((&told["running"], &told["pid"]), (&json!(true), &json!(driver)));
    wait_until("the agent's end", || gone(agent));
    let status = editor.ok("status", json!({}));
    assert_eq!((&status["state"], &status["reason"]), (&json!("paused"), &json!("interrupted")));
    world.write("go-on", "");
    editor.ok("resume", json!({ "by": "ann" }));
    let next = editor.driver().unwrap();
    let _ends = Ends(next);
    assert_ne!(next, driver);
    assert_eq!(editor.wait_for_state("complete")["state"], "complete");
    assert_eq!(world.calls(), ["coder", "coder"]);
}

#[test]
fn a_driver_without_work_and_editors_leaves_and_its_socket_too() {
    let world = World::new();
    world.declare("one", "stages:\n  - agent: coder\n");
    let mut editor = Editor::of(&world);
    editor.ok("run", json!({ "name": "one", "by": "ann" }));
    let driver = editor.driver().unwrap();
    editor.wait_for_state("complete");
    editor.leave();
    let socket = SocketPath::of(&world.root()).unwrap().socket();
    wait_until("the driver's end", || gone(driver));
    assert!(!socket.exists() && !socket.with_extension("lock").exists());
}

#[test]
fn editors_that_come_at_once_get_one_driver() {
    let world = World::new();
    world.declare("two", TWO_STAGES_AND_A_GATE);
    let mut editors: Vec<Editor> = (0..4).map(|_| Editor::of(&world)).collect();
    let asked: Vec<u64> =
        editors.iter_mut().map(|editor| editor.ask("run", json!({ "name": "two", "by": "ann" }))).collect();
    let answers: Vec<Value> = editors.iter_mut().zip(asked).map(|(editor, id)| editor.answer(id)).collect();
    let _ends = Ends(editors[0].driver().unwrap());
    let started = answers.iter().filter(|answer| answer.get("ok").is_some()).count();
    assert_eq!(started, 1, "{answers:#?}");
    let mut notices = Vec::new();
    for editor in &mut editors {
        editor.wait_for("gate-opened");
        notices.extend(editor.events.iter().filter(|event| event["type"] == "notice").cloned());
    }
    assert_eq!(notices, [] as [Value; 0], "nobody drives in an editor");
    assert_eq!(world.calls(), ["coder"]);
}

#[test]
fn what_only_lua_decides_waits_for_an_editor() {
    let world = World::new();
    world.declare("one", "stages:\n  - agent: coder\n  - agent: closer\n    when: 'story.has_api'\n");
    world.hook(WAITS);
    let conditions = json!({ "conditions": ["story.has_api"] });
    let mut editor = Editor::configured(&world, conditions.clone());
    editor.ok("run", json!({ "name": "one", "by": "ann" }));
    wait_until("the agent", || world.path("working-coder").exists());
    let _ends = Ends(editor.driver().unwrap());
    // What the driver keeps waits for no editor's time: this one goes, and none is attached.
    editor.leave();
    world.write("go-on", "");
    let squad = world.path(".claude/state/squad.json");
    wait_until("the pause", || std::fs::read_to_string(&squad).unwrap_or_default().contains("\"paused\""));
    let mut next = Editor::configured(&world, conditions);
    let status = next.ok("status", json!({}));
    assert_eq!(status["reason"], "needs-human", "{status:#}");
    let summary = status["summary"].as_str().unwrap();
    assert!(summary.contains("story.has_api") && summary.contains("Neovim"), "{summary}");
    next.ok("resume", json!({ "by": "ann" }));
    let question = next.wait_for("ask-fact");
    let answer = json!({ "op": "answer", "id": question["id"], "value": { "value": true } });
    next.router.call(&answer.to_string());
    next.wait_for_state("complete");
    assert_eq!(world.calls(), ["coder", "closer"]);
}

#[test]
fn a_verb_brings_its_callers_configuration_and_environment() {
    let world = World::new();
    world.declare("one", "stages:\n  - agent: coder\n");
    world.hook("echo \"$1 $DRIVER_TEST_WORD\" >> words; echo done");
    let mut editor = Editor::of(&world);
    editor.ok("run", json!({ "name": "one", "by": "ann" }));
    let _ends = Ends(editor.driver().unwrap());
    editor.wait_for_state("complete");
    editor.wait_for("drive-ended");
    // SAFETY: the engine's threads read copies that are taken on this one.
    unsafe { std::env::set_var("DRIVER_TEST_WORD", "second") };
    editor.ok("run", json!({ "name": "one", "by": "ann" }));
    editor.wait_for("run-finished");
    unsafe { std::env::remove_var("DRIVER_TEST_WORD") };
    assert_eq!(world.read("words"), "coder \ncoder second\n");
}

#[test]
fn a_driver_whose_project_is_deleted_leaves() {
    let world = World::new();
    world.declare("one", "stages:\n  - agent: coder\n");
    world.hook("echo works > working; sleep 1000");
    let mut editor = Editor::of(&world);
    editor.ok("run", json!({ "name": "one", "by": "ann" }));
    let driver = editor.driver().unwrap();
    wait_until("the agent", || world.path("working").exists());
    editor.leave();
    std::fs::remove_dir_all(world.root()).unwrap();
    wait_until("the driver's end", || gone(driver));
}

#[test]
fn a_stopped_driver_is_shown_as_silent_and_goes_on() {
    let world = World::new();
    world.declare("one", "stages:\n  - agent: coder\n");
    world.hook(WAITS);
    let mut editor = Editor::of(&world);
    editor.ok("run", json!({ "name": "one", "by": "ann" }));
    let driver = editor.driver().unwrap();
    let _ends = Ends(driver);
    wait_until("the agent", || world.path("working-coder").exists());
    let signal = |name: &str| Command::new("kill").arg(name).arg(driver.to_string()).status().unwrap();
    signal("-STOP");
    let told = editor.wait_for("driver-silent");
    assert_eq!((&told["silent"], &told["pid"]), (&json!(true), &json!(driver)));
    signal("-CONT");
    let told = editor.wait_for("driver-silent");
    assert_eq!(told["silent"], false);
    world.write("go-on", "");
    editor.wait_for_state("complete");
}

#[test]
fn on_exit_stop_interrupts_the_run() {
    let world = World::new();
    world.declare("one", "stages:\n  - agent: coder\n");
    world.hook("echo $$ > agent-process; echo works > working; sleep 1000");
    let mut editor = Editor::configured(&world, json!({ "on_exit": "stop" }));
    editor.ok("run", json!({ "name": "one", "by": "ann" }));
    let _ends = Ends(editor.driver().unwrap());
    wait_until("the agent", || world.path("working").exists());
    let agent: u32 = world.read("agent-process").trim().parse().unwrap();
    let mut other = Editor::of(&world);
    other.ok("status", json!({}));
    editor.leave();
    wait_until("the agent's end", || gone(agent));
    let run = other.wait_for_state("paused");
    assert_eq!(run["reason"], "interrupted");
}

#[test]
fn a_script_that_looks_or_is_refused_interrupts_nothing() {
    let world = World::new();
    world.declare("one", "stages:\n  - agent: coder\n");
    world.hook(WAITS);
    let mut editor = Editor::of(&world);
    editor.ok("run", json!({ "name": "one", "by": "ann" }));
    let _ends = Ends(editor.driver().unwrap());
    wait_until("the agent", || world.path("working-coder").exists());
    let script = Editor::configured(&world, json!({ "headless": true, "on_exit": "stop" }));
    for request in [
        json!({ "op": "status" }),
        json!({ "op": "decide", "decision": "approve" }),
        json!({ "op": "resume" }),
        json!({ "op": "run", "name": "one" }),
    ] {
        let mut request = request;
        request["root"] = json!(world.root());
        script.router.call(&request.to_string());
    }
    script.leave();
    world.write("go-on", "");
    assert_eq!(editor.wait_for_state("complete")["state"], "complete");
    assert_eq!(world.calls(), ["coder"]);
}

/// An editor whose stages reach this script as Claude Code.
fn claude_editor(world: &World, script: &str, permission_timeout: &str) -> Editor {
    let program = world.path("claude-script");
    std::fs::write(&program, format!("{}{script}", crate::claude::PRELUDE)).unwrap();
    world.executable("claude-script");
    let harnesses = json!({ "claude": { "cmd": [program] } });
    let config =
        json!({ "harness": "claude", "harnesses": harnesses, "permission_timeout": permission_timeout });
    world.write(".claude/agents/coder.md", "---\nname: coder\ndescription: Codes\n---\nCode.\n");
    Editor::configured(world, config)
}

const ASKS: &str = r#"
init()
open("works", "w").close()
answer = ask("q", "t", "Bash", command="npm test")
open("answer", "w").write(answer["behavior"] + " " + answer.get("message", ""))
say("done")
result()
rest()
"#;

#[test]
fn a_permission_waits_for_an_editor_that_comes_later() {
    let world = World::new();
    world.declare("one", "stages:\n  - agent: coder\n");
    let mut first = claude_editor(
        &world,
        &ASKS.replace("answer = ask", "while os.path.exists('wait'): time.sleep(0.01)\nanswer = ask"),
        "5m",
    );
    world.write("wait", "");
    first.ok("run", json!({ "name": "one", "by": "ann" }));
    let _ends = Ends(first.driver().unwrap());
    wait_until("the agent", || world.path("works").exists());
    first.leave();
    std::fs::remove_file(world.path("wait")).unwrap();
    let mut second = claude_editor(&world, ASKS, "5m");
    second.ok("status", json!({}));
    let mut third = claude_editor(&world, ASKS, "5m");
    third.ok("status", json!({}));
    let asked = second.wait_for("permission");
    assert_eq!(asked["title"].as_str().map(|title| title.contains("npm test")), Some(true), "{asked}");
    third.until_heard("permission");
    let answer = json!({ "op": "answer", "id": asked["id"], "value": { "answer": "once" } });
    second.router.call(&answer.to_string());
    third.until_heard("permission-gone");
    second.wait_for_state("complete");
    assert_eq!(world.read("answer").split(' ').next(), Some("allow"));
}

#[test]
fn a_permission_that_nobody_answers_is_denied_by_a_machine() {
    let world = World::new();
    world.declare("one", "stages:\n  - agent: coder\n");
    let mut editor = claude_editor(&world, ASKS, "1s");
    editor.ok("run", json!({ "name": "one", "by": "ann" }));
    let _ends = Ends(editor.driver().unwrap());
    editor.leave();
    wait_until("the answer", || !world.read("answer").is_empty());
    let answer = world.read("answer");
    assert!(answer.starts_with("deny") && answer.contains("nobody answered"), "{answer}");
}

#[test]
fn what_was_decided_just_before_the_exit_counts() {
    for _ in 0..10 {
        let world = World::new();
        world.declare("two", TWO_STAGES_AND_A_GATE);
        let mut editor = Editor::of(&world);
        editor.ok("run", json!({ "name": "two", "by": "ann" }));
        let _ends = Ends(editor.driver().unwrap());
        editor.wait_for("gate-opened");
        editor.ok("review", json!({}));
        editor.ask("decide", json!({ "decision": "reject", "by": "ann" }));
        editor.leave();
        assert_eq!(world.status()["state"], "rejected");
    }
}
