//! When an attempt counts as passed, what the next attempt's prompt says, and how often a stage is tried.

use crate::world::World;
use serde_json::json;

#[test]
fn files_written_elsewhere_do_not_meet_expectations() {
    let world = World::new();
    world.write("docs/tasks.md", "from before\n");
    let before = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
    std::fs::File::options()
        .write(true)
        .open(world.path("docs/tasks.md"))
        .unwrap()
        .set_modified(before)
        .unwrap();
    // Wait, because a run that begins within a tick of the file system's clock would take the file for its own.
    std::thread::sleep(std::time::Duration::from_millis(50));
    world.declare("one", "stages:\n  - {agent: a, max_attempts: 3, expects: {files: [docs/tasks.md]}}\n");
    // The first attempt writes nothing, the second another file, the third the right one.
    world.hook(
        "case $SUPERPOWER_ATTEMPT in 2) echo x > other.md;; 3) sleep 0.05; echo x > docs/tasks.md;; esac; echo 'I wrote docs/tasks.md.'",
    );
    world.run("one", json!({}));
    let settled = world.settled();
    assert_eq!((&settled["state"], world.calls().len()), (&json!("complete"), 3), "{:?}", world.log());
    let retries = world.log().iter().filter(|line| line.contains("docs/tasks.md")).count();
    assert!(retries >= 2, "{:?}", world.log());
}

#[test]
fn a_failure_outside_of_an_agent_is_retried_from_its_own_stage() {
    let world = World::new();
    world.declare("two", "stages:\n  - {agent: a}\n  - {agent: b}\n");
    world.hook("[ \"$1\" = a ] && chmod -x bin/agent; echo fine");
    world.run("two", json!({}));
    let paused = world.settled();
    assert_eq!(
        (&paused["state"], &paused["current_stage"]),
        (&json!("paused"), &json!(2)),
        "{:?}",
        world.log()
    );
    world.executable("bin/agent");
    world.ok("resume", json!({}));
    assert_eq!(world.settled()["state"], "complete");
    assert_eq!(world.calls(), ["a", "b"]);
}

#[test]
fn the_next_attempt_is_told_the_failure_and_the_end_of_the_output() {
    let world = World::new();
    world.declare("one", "stages:\n  - {agent: a}\n");
    world.hook("cp .prompt prompt-$SUPERPOWER_ATTEMPT; head -c 300000 /dev/zero | tr '\\0' 'x'; echo; echo the last line; exit $((SUPERPOWER_ATTEMPT == 1))");
    world.run("one", json!({}));
    world.until("a second attempt", |_| world.path("prompt-2").exists());
    assert_eq!(world.settled()["state"], "complete");
    let (first, second) = (world.read("prompt-1"), world.read("prompt-2"));
    assert!(second.contains("The attempt before this one failed: exit status 1"), "{second}");
    assert!(second.contains("What it did may still be there: check first."), "{second}");
    assert!(second.contains("the last line"), "{second}");
    assert!(second.len() < first.len() + 6000, "{} bytes", second.len());
}

#[test]
fn a_custom_harness_is_driven_like_command() {
    let world = World::new();
    let agent = world.path("bin/agent");
    world.configure(json!({ "harness": "mine", "harnesses": { "mine": { "cmd": [agent, "{agent}"] } } }));
    world.declare("two", "stages:\n  - {agent: a}\n  - {agent: b, harness: mine}\n");
    world.run("two", json!({}));
    assert_eq!(world.settled()["state"], "complete", "{:?}", world.log());
    assert_eq!(world.calls(), ["a", "b"]);
}

#[test]
fn a_failed_execute_is_not_retried_forever() {
    let world = World::new();
    world.declare("loop", "stages:\n  - {agent: loop-executor}\n");
    world.hook("echo 'no.'; echo '{\"verdict\": \"FAIL\"}'");
    world.run("loop", json!({}));
    assert_eq!(world.settled()["reason"], "failed");
    assert_eq!(world.calls().len(), 3, "EXECUTE tries again, up to its attempts");
    world.declare("plain", "stages:\n  - {agent: other}\n");
    world.run("plain", json!({}));
    assert_eq!(world.settled()["reason"], "failed");
    assert_eq!(world.calls().len(), 4, "the verdict FAIL of any other stage ends its attempts");
}
