//! What one client of a driver does, and what that changes for the others: nothing but what it has asked for.

use crate::alone::alone;
use crate::clients::{Editor, Ends};
use crate::driver_process::{WAITS, wait_until};
use crate::world::World;
use serde_json::json;
use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use superpower::server::socket_path::SocketPath;

const ASKS_LUA: &str = "stages:\n  - agent: coder\n  - agent: closer\n    when: 'story.has_api'\n";

#[test]
fn what_an_editor_was_asked_as_it_left_is_asked_in_another_one() {
    let world = World::new();
    world.declare("one", ASKS_LUA);
    let conditions = json!({ "conditions": ["story.has_api"] });
    let (mut first, mut second) =
        (Editor::configured(&world, conditions.clone()), Editor::configured(&world, conditions));
    second.call("run", json!({ "name": "no-such" }));
    let _ends = Ends(second.driver().unwrap());
    first.ok("run", json!({ "name": "one", "by": "ann" }));
    let asked = first.wait_for("ask-fact");
    first.leave();
    let question = second.wait_for("ask-fact");
    assert_eq!(question["id"], asked["id"]);
    let answer = json!({ "op": "answer", "id": question["id"], "value": { "value": true } });
    second.router.call(&answer.to_string());
    second.wait_for_state("complete");
}

#[test]
fn what_the_last_editor_was_asked_as_it_left_needs_an_editor() {
    let world = World::new();
    world.declare("one", ASKS_LUA);
    let mut editor = Editor::configured(&world, json!({ "conditions": ["story.has_api"] }));
    editor.ok("run", json!({ "name": "one", "by": "ann" }));
    let _ends = Ends(editor.driver().unwrap());
    editor.wait_for("ask-fact");
    editor.leave();
    let squad = world.path(".claude/state/squad.json");
    wait_until("the pause", || std::fs::read_to_string(&squad).unwrap_or_default().contains("\"paused\""));
    let status = Editor::of(&world).ok("status", json!({}));
    assert_eq!(status["reason"], "needs-human", "{status:#}");
}

#[test]
fn a_client_that_looks_changes_no_run() {
    let world = World::new();
    world.declare("two", "stages:\n  - agent: coder\n  - agent: closer\n");
    world.hook(&format!("echo \"$1 $DRIVER_TEST_WORD\" >> words; {WAITS}"));
    // SAFETY: the engine's threads read copies that are taken on this one.
    unsafe { std::env::set_var("DRIVER_TEST_WORD", "runner") };
    let mut editor = Editor::of(&world);
    editor.ok("run", json!({ "name": "two", "by": "ann" }));
    let _ends = Ends(editor.driver().unwrap());
    wait_until("the agent", || world.path("working-coder").exists());
    unsafe { std::env::set_var("DRIVER_TEST_WORD", "looker") };
    let mut other = Editor::of(&world);
    other.ok("status", json!({}));
    other.ok("runs", json!({}));
    world.write("go-on", "");
    editor.wait_for_state("complete");
    unsafe { std::env::remove_var("DRIVER_TEST_WORD") };
    assert_eq!(world.read("words"), "coder runner\ncloser runner\n");
}

#[test]
fn the_trust_of_one_editor_is_none_for_another_ones_verb() {
    let world = World::new();
    world.declare("one", "stages:\n  - agent: coder\n");
    let mut trusting = Editor::of(&world);
    let mut asking = Editor::configured(&world, json!({ "trust": "ask" }));
    trusting.call("run", json!({ "name": "no-such" }));
    let _ends = Ends(trusting.driver().unwrap());
    for _ in 0..20 {
        let runs = asking.ask("run", json!({ "name": "one", "by": "ann" }));
        // What is quick is done at once, while the other's verb waits or is under way.
        for _ in 0..20 {
            let answer = json!({ "op": "answer", "id": "none", "value": {} });
            trusting.router.call(&answer.to_string());
        }
        trusting.call("status", json!({}));
        let answer = asking.answer(runs);
        assert_eq!(answer["err"]["code"], "untrusted", "{answer}");
    }
}

#[test]
fn a_driver_that_is_about_to_end_is_waited_for_and_another_one_drives() {
    let world = World::new();
    world.declare("one", "stages:\n  - agent: coder\n");
    let place = SocketPath::of(&world.root()).unwrap();
    let lock = place.lock().unwrap().unwrap();
    let listener = UnixListener::bind(place.socket()).unwrap();
    let (come, comes) = std::sync::mpsc::channel();
    let ending = std::thread::spawn(move || {
        // It ends its agents, and serves nobody any more.
        for client in listener.incoming().flatten().take(6) {
            drop(client);
            let _ = come.send(());
        }
        place.leave(&lock).unwrap();
    });
    let mut editor = Editor::of(&world);
    editor.ok("run", json!({ "name": "one", "by": "ann" }));
    let _ends = Ends(editor.driver().unwrap());
    ending.join().unwrap();
    assert_eq!(comes.try_iter().count(), 6, "the editor, and the driver that it has started");
    let run = editor.wait_for_state("complete");
    assert_ne!(run["driver"]["pid"], std::process::id());
}

#[test]
#[cfg(target_os = "linux")]
fn a_client_that_asks_and_reads_nothing_is_dropped_before_it_fills_the_driver() {
    let world = World::new();
    world.declare("one", "stages:\n  - agent: coder\n");
    world.hook(WAITS);
    let mut editor = Editor::of(&world);
    editor.ok("run", json!({ "name": "one", "by": "ann" }));
    let driver = editor.driver().unwrap();
    let _ends = Ends(driver);
    let mut client = UnixStream::connect(SocketPath::of(&world.root()).unwrap().socket()).unwrap();
    // A short question with a long answer.
    let line = format!("{}\n", json!({ "op": "call", "id": 1, "request": { "op": "schema" } }));
    let mut asked = 0;
    while client.write_all(line.as_bytes()).is_ok() {
        asked += 1;
        assert!(asked < 100_000, "it is dropped");
        // A byte now and then is enough not to be taken for dead.
        if asked % 100 == 0 {
            let _ = client.read(&mut [0; 16]);
        }
    }
    let status = std::fs::read_to_string(format!("/proc/{driver}/status")).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak: usize = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak < 200 << 10, "{peak} kB");
    assert_eq!(editor.ok("status", json!({}))["state"], "running", "others are served");
}

#[test]
#[cfg(target_os = "linux")]
fn a_project_that_no_client_can_name_gets_no_driver() {
    use std::os::unix::ffi::OsStrExt;
    let world = World::new();
    let root = world.root().join(std::ffi::OsStr::from_bytes(b"\xff"));
    std::fs::create_dir(&root).unwrap();
    let program = superpower::server::program().unwrap();
    let said = std::process::Command::new(program).args(["drive", "--root"]).arg(&root).output().unwrap();
    assert!(!said.status.success());
    assert!(String::from_utf8_lossy(&said.stdout).starts_with("the path is not UTF-8"), "{said:?}");
}

#[test]
fn a_driver_is_found_from_a_session_with_another_runtime_directory() {
    let runtime = tempfile::tempdir().unwrap();
    let environment = [("XDG_RUNTIME_DIR", "")];
    alone(
        "driver_clients::a_driver_is_found_from_a_session_with_another_runtime_directory",
        &environment,
        || {
            let world = World::new();
            world.declare("one", "stages:\n  - agent: coder\n");
            world.hook(WAITS);
            let mut editor = Editor::of(&world);
            editor.ok("run", json!({ "name": "one", "by": "ann" }));
            let driver = editor.driver().unwrap();
            let _ends = Ends(driver);
            // SAFETY: the engine's threads read copies that are taken on this one.
            unsafe { std::env::set_var("XDG_RUNTIME_DIR", runtime.path()) };
            let mut other = Editor::of(&world);
            other.ok("cancel", json!({ "by": "bob" }));
            editor.wait_for_state("cancelled");
        },
    );
}
