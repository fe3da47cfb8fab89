//! What is shown while recordings of real tools run: calls, files, text, usage, to-do lists, subagents.

use super::recorded::replay;
use super::recorded_cases::CASES;
use super::transcripts::{Read, text, tools};
use superpower::harness::{Progress, Signal};

fn shown(name: &str) -> Read {
    replay(CASES.iter().find(|case| case.name == name).expect(name))
}

#[test]
fn tool_calls_files_text_and_usage_are_shown() {
    let read = shown("claude-work");
    assert_eq!(
        tools(&read),
        [
            "Write hello.txt running",
            "Write hello.txt done hello.txt",
            "Bash cat hello.txt running",
            "Bash cat hello.txt done"
        ]
    );
    let said = text(&read);
    assert!(said.ends_with("All done.\n"), "{said}");
    assert_eq!(said.matches("I write.").count(), 1, "what came in pieces is shown once: {said}");
    let usage = read.ending.unwrap().usage;
    assert_eq!(usage.tokens, Some(36336));
    assert!((usage.cost.unwrap() - 0.146_656).abs() < 1e-9);
    let is = |signal: &Signal| matches!(signal, Signal::Session(session) if session.harness == "claude");
    assert!(read.signals.iter().any(is));
}

#[test]
fn the_cost_of_a_resumed_session_is_the_difference() {
    let usage = shown("claude-resumed").ending.unwrap().usage;
    assert_eq!((usage.tokens, usage.cost), (Some(11994), Some(0.04812)));
}

#[test]
fn subagents_are_shown_under_their_parent_and_to_do_lists_are_shown() {
    let all = tools(&shown("claude-subagent"));
    assert!(all.contains(&"Read README.md running (sub)".to_owned()), "{all:?}");
    let read = shown("claude-todo");
    let lists = read.signals.iter().filter_map(|signal| match signal {
        Signal::Progress(Progress::Todo { items }) => Some(items),
        _ => None,
    });
    let lists: Vec<Vec<String>> =
        lists.map(|items| items.iter().map(|it| format!("{} {}", it.status, it.text)).collect()).collect();
    assert_eq!(lists, [["pending Parse"], ["completed Parse"]]);
}

#[test]
fn an_agents_own_wait_is_shown() {
    let is = |signal: &Signal| matches!(signal, Signal::Progress(Progress::Waiting { .. }));
    assert!(shown("claude-529-twice").signals.iter().any(is));
}
