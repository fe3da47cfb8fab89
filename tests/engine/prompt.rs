//! The agent's prompt.

use crate::world::World;
use serde_json::json;

const ONE: &str = "stages:\n  - {agent: a}\n";
const INTERRUPTED: &str = "You were interrupted";

#[test]
fn a_retry_is_told_of_the_failure_and_not_of_an_interruption() {
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
fn an_interrupted_stage_is_told_to_continue() {
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
fn an_agent_is_told_its_time_limit() {
    let world = World::new();
    world.declare("one", "stages:\n  - {agent: a, timeout: 90m}\n");
    world.hook("cp .prompt prompt-$SUPERPOWER_ATTEMPT; echo fine");
    world.run("one", json!({}));
    assert_eq!(world.settled()["state"], "complete");
    let told = world.read("prompt-1");
    assert!(told.contains("\nThis attempt is stopped after 1h 30m. "), "{told}");
}

/// The prompts of a stage whose first launch ends with `first`, and which passes from then on.
fn stopped(first: &str, verbs: &[(&str, &str)]) -> Vec<String> {
    let world = World::new();
    world.declare("one", ONE);
    world.hook(&format!(
        "cp .prompt prompt-$SUPERPOWER_ATTEMPT; if [ $SUPERPOWER_ATTEMPT -le {} ]; then {first}; fi; echo fine",
        verbs.len()
    ));
    world.run("one", json!({}));
    for (verb, comment) in verbs {
        assert_eq!(world.settled()["state"], "paused");
        let fields = if comment.is_empty() { json!({}) } else { json!({ "comment": comment }) };
        world.ok(verb, fields);
    }
    assert_eq!(world.settled()["state"], "complete");
    (1..=verbs.len() + 1).map(|launch| world.read(&format!("prompt-{launch}"))).collect()
}

#[test]
fn an_agent_that_asked_is_told_that_it_got_no_answer() {
    let prompts = stopped("echo 'Which colour?'; exit 2", &[("resume", "")]);
    let told = &prompts[1];
    assert!(told.contains("stopped with a question") && told.contains("\n    Which colour?\n"), "{told}");
    assert!(told.contains("You got no answer.") && !told.contains(INTERRUPTED), "{told}");
}

#[test]
fn an_agent_that_was_blocked_is_told_why_it_stopped() {
    let prompts = stopped("echo 'no database'; exit 4", &[("resume", ""), ("retry", "it runs now")]);
    assert!(prompts[1].contains("because you were blocked") && prompts[1].contains("\n    no database\n"));
    assert!(
        prompts[1].contains("You were not told what was done about it") && !prompts[1].contains(INTERRUPTED)
    );
    assert!(
        prompts[2].contains("A human has answered") && prompts[2].contains("it runs now"),
        "{}",
        prompts[2]
    );
}

#[test]
fn answers_are_repeated_until_the_stage_passes() {
    let verbs = [("retry", "green, and light"), ("resume", "")];
    let prompts = stopped("echo \"Which colour, $SUPERPOWER_ATTEMPT?\"; exit 2", &verbs);
    assert!(prompts[1].contains("You asked: Which colour, 1?") && prompts[1].contains("green, and light"));
    assert!(prompts[1].contains("A human has answered") && !prompts[1].contains("You got no answer"));
    let last = &prompts[2];
    assert!(last.contains("green, and light"), "a comment stays until the stage passes: {last}");
    assert!(last.contains("\n    Which colour, 2?\n") && last.contains("You got no answer"), "{last}");
}

#[test]
fn a_question_stays_open_after_an_interruption() {
    let mut world = World::new();
    world.declare("one", ONE);
    world.hook(
        "cp .prompt prompt-$SUPERPOWER_ATTEMPT; case $SUPERPOWER_ATTEMPT in 1) echo 'Which colour?'; exit 2;; 2) sleep 30;; esac; echo fine",
    );
    world.run("one", json!({}));
    assert_eq!(world.settled()["reason"], "needs-human");
    world.ok("resume", json!({}));
    world.until("the second launch", |_| world.path("prompt-2").exists());
    world.restart();
    world.ok("resume", json!({}));
    assert_eq!(world.settled()["state"], "complete");
    let third = world.read("prompt-3");
    assert!(
        third.contains("\n    Which colour?\n") && third.contains("After that you were interrupted"),
        "{third}"
    );
}
