//! What an agent is told.

use crate::world::World;
use serde_json::json;

const ONE: &str = "stages:\n  - {agent: a}\n";
const INTERRUPTED: &str = "You were interrupted";

#[test]
fn the_attempt_after_a_failed_one_is_told_so_and_not_that_it_was_interrupted() {
    let world = World::new();
    world.declare("one", ONE);
    world.hook("cp .prompt prompt-$SUPERPOWER_ATTEMPT; sleep 0.05; [ $SUPERPOWER_ATTEMPT = 2 ] && echo fine");
    world.run("one", json!({}));
    assert_eq!(world.settled()["state"], "complete");
    let second = world.read("prompt-2");
    assert!(second.contains("The attempt before this one failed: exit status 1"), "{second}");
    assert!(!second.contains(INTERRUPTED), "{second}");
}

#[test]
fn a_stage_that_was_interrupted_is_told_to_go_on() {
    let mut world = World::new();
    world.declare("one", ONE);
    world.hook("cp .prompt prompt-$SUPERPOWER_ATTEMPT; [ $SUPERPOWER_ATTEMPT = 1 ] && sleep 30; echo fine");
    world.run("one", json!({}));
    world.until("the agent to work", |_| world.path("prompt-1").exists());
    world.restart();
    world.ok("resume", json!({}));
    assert_eq!(world.settled()["state"], "complete");
    assert!(!world.read("prompt-1").contains(INTERRUPTED));
    let second = world.read("prompt-2");
    assert!(second.contains(INTERRUPTED) && !second.contains("failed"), "{second}");
}

#[test]
fn h17_an_agent_is_told_how_long_it_has() {
    let world = World::new();
    world.declare("one", "stages:\n  - {agent: a, timeout: 90m}\n");
    world.hook("cp .prompt prompt-$SUPERPOWER_ATTEMPT; echo fine");
    world.run("one", json!({}));
    assert_eq!(world.settled()["state"], "complete");
    let told = world.read("prompt-1");
    assert!(told.contains("\nThis attempt is ended after 1h 30m. "), "{told}");
}
