//! Recordings of real tools by others, read as if they were live: every case, its outcome, and what is shown.
//! Our own are in `recorded` and `recorded_shown`.

use super::launched::launch_in;
use super::world::shared;
use serde_json::Value;
use std::path::{Path, PathBuf};
use superpower::harness::*;
use superpower::outcome::Outcome;
use superpower::process::Exit;

/// A recorded case.
struct Case {
    name: String,
    lines: Vec<String>,
    stderr: String,
    exit: Exit,
}

/// The result of reading a case; without an ending it wants another start.
pub struct Read {
    /// The signals.
    pub signals: Vec<Signal>,
    /// The ending.
    pub ending: Option<Ending>,
}

/// Where the recordings are.
fn folder() -> PathBuf {
    shared("harness-transcripts")
}

/// The cases of one tool in a directory with `cases.json`.
fn cases(folder: &Path, tool: &str) -> Vec<Case> {
    let text = std::fs::read_to_string(folder.join("cases.json")).unwrap();
    let all: Vec<Value> = serde_json::from_str(&text).unwrap();
    let ours = all.iter().filter(|case| case["file"].as_str().unwrap().starts_with(tool));
    let read = |case: &Value| {
        let name = case["file"].as_str().unwrap().trim_end_matches(".jsonl").to_owned();
        let text = std::fs::read_to_string(folder.join(format!("{name}.jsonl"))).unwrap();
        let exit = case["exit"].as_i64().unwrap() as i32;
        let exit = if exit < 0 { Exit::Signal(-exit) } else { Exit::Code(exit) };
        let lines = text.lines().filter_map(from_tool).collect();
        Case { name, lines, stderr: case["stderr"].as_str().unwrap_or_default().to_owned(), exit }
    };
    ours.map(read).collect()
}

/// A line as the tool printed it: duplex recordings have it in an envelope with the direction.
fn from_tool(line: &str) -> Option<String> {
    let value: Value = serde_json::from_str(line).unwrap();
    match value.get("dir").and_then(Value::as_str) {
        None => Some(line.to_owned()),
        Some("<") => Some(value["msg"].to_string()),
        Some(_) => None,
    }
}

fn read(tool: &str, case: &Case, change: impl FnOnce(&mut Launch)) -> Read {
    let mut launch = launch_in(Path::new("/project"));
    change(&mut launch);
    let mut harnesses = Harnesses::default();
    // Any program will do, because none is started.
    let settings = harnesses.named.get_mut(tool).unwrap();
    settings.cmd = vec!["/bin/true".to_owned()];
    if tool == "opencode" {
        settings.args = vec!["run".to_owned()];
    }
    let mut harness =
        of(&resolve(tool, &harnesses, None).unwrap(), &launch, &superpower::process::Secrets::default());
    harness.invocation();
    let mut to = Actions::default();
    let mut stopped = None;
    for line in &case.lines {
        harness.line(line, 0, &mut to);
        if to.stop {
            stopped = Some(Stopped::Harness);
            break;
        }
    }
    case.stderr.lines().for_each(|line| harness.error_line(line, &mut to));
    let ending = harness.end(&End { exit: case.exit, stopped }, &mut to);
    Read { signals: to.signals, ending }
}

/// An outcome as text, for comparisons.
pub fn words(read: &Read) -> String {
    let Some(ending) = &read.ending else { return "again".to_owned() };
    let (kind, why) = match &ending.outcome {
        Outcome::Passed => ("passed", ending.message.clone()),
        Outcome::Failed { why } | Outcome::Exited { why } => ("failed", why.clone()),
        Outcome::FailedForGood { why } => ("refused", why.clone()),
        Outcome::Transient { why } => ("transient", why.clone()),
        Outcome::Limited { why, .. } => ("limited", why.clone()),
        Outcome::VerdictFail { why } => ("fail", why.clone()),
        Outcome::Blocked { why } => ("blocked", why.clone()),
        Outcome::Auth { why } => ("auth", why.clone()),
        Outcome::NeedsHuman { question } => ("needs-human", question.clone()),
    };
    let refused =
        if ending.refusals.is_empty() { String::new() } else { format!(" / {}", ending.refusals.len()) };
    format!("{kind}: {why}{refused}")
}

/// The cases of Claude Code: kind, start of the message, and number of refusals.
const CLAUDE: &[(&str, &str)] = &[
    ("claude-agent-unknown", "refused: --agent 'nosuch' not found."),
    ("claude-agent", "passed: Ready."),
    ("claude-allowed-tools", "passed: Finished."),
    (
        "claude-bypass-as-root",
        "refused: --dangerously-skip-permissions cannot be used with root/sudo privileges",
    ),
    ("claude-bypass-sandbox", "passed: Finished."),
    ("claude-denied-default", "passed: Finished. / 2"),
    ("claude-denied-dontAsk", "passed: Finished. / 2"),
    ("claude-denied-plan", "passed: Finished. / 2"),
    ("claude-duplex-question", "needs-human: Which database? sqlite (one file) | postgres (a server)"),
    ("claude-duplex", "passed: third done / 1"),
    ("claude-error-400", "failed: API Error: 400 fake invalid_request_error"),
    ("claude-error-401", "auth: the login was refused (authentication_failed)"),
    ("claude-error-403", "auth: Failed to authenticate. API Error: 403 fake permission_error"),
    ("claude-error-404", "refused: There's an issue with the selected model"),
    ("claude-error-429", "limited: API Error: Request rejected (429)"),
    ("claude-error-500", "transient: API Error: 500 fake api_error."),
    ("claude-error-529", "transient: API Error: Repeated 529 Overloaded errors."),
    (
        "claude-error-max-tokens",
        "failed: API Error: Claude's response exceeded the 128000 output token maximum.",
    ),
    ("claude-error-not-logged-in", "auth: Not logged in · Please run /login"),
    ("claude-json-schema", "passed: {\"verdict\":\"pass\",\"notes\":[\"fine\"]}"),
    ("claude-max-budget", "refused: Reached maximum budget ($0.06)"),
    ("claude-max-turns", "failed: Reached maximum number of turns (2)"),
    ("claude-resume-fork", "passed: Continued."),
    ("claude-resume-unknown", "failed: No conversation found with session ID"),
    ("claude-resume", "passed: Continued."),
    ("claude-retry-then-success", "passed: Recovered."),
    ("claude-session-id-not-uuid", "refused: Error: Invalid session ID. Must be a valid UUID."),
    ("claude-sigint-in-bash", "failed: the agent was interrupted"),
    ("claude-sigkill-in-bash", "failed: no final event (killed by signal 9 (KILL))"),
    ("claude-sigterm-in-bash", "failed: no final event (exit status 143)"),
    ("claude-sigterm-in-request", "failed: no final event (exit status 143)"),
    ("claude-skill-slash", "passed: Spec written."),
    ("claude-slash-unknown-2.1.197", "failed: the agent did nothing: Unknown command: /nosuch"),
    ("claude-slash-unknown", "passed: ok"),
    ("claude-stdin-prompt", "passed: Got it."),
    ("claude-subagent", "passed: The reviewer is content."),
    ("claude-success-2.1.197", "passed: All done."),
    ("claude-success-partial", "passed: All done."),
    ("claude-success", "passed: All done."),
    ("claude-todo-todowrite", "passed: Planned."),
];

/// The cases of OpenCode, likewise.
const OPENCODE: &[(&str, &str)] = &[
    ("opencode-agent-steps", "passed: Seen."),
    ("opencode-agent-subagent", "again"),
    (
        "opencode-agent-unknown",
        "refused: OpenCode has no agent \"coder\", and no file of the project or user",
    ),
    ("opencode-agent", "passed: Ready."),
    ("opencode-allowed-auto", "passed: Finished."),
    ("opencode-argv-mangled", "passed: ok"),
    ("opencode-command", "passed: Planned."),
    ("opencode-denied-ask", "needs-human: refused: edit (a.txt); to allow it: harnesses.opencode.args = / 1"),
    ("opencode-error-400", "failed: fake invalid_request_error (400)"),
    ("opencode-error-401", "auth: fake authentication_error (401)"),
    ("opencode-error-500", "transient: fake api_error (500)"),
    ("opencode-error-model", "failed: Unexpected server error. Check server logs for details."),
    ("opencode-no-prompt", "failed: You must provide a message or a command (exit status 1)"),
    ("opencode-retry-then-success", "passed: Recovered."),
    // Its server prints other lines, none of which ends the launch.
    ("opencode-serve", "failed: no final event (killed by signal 15 (TERM))"),
    ("opencode-session", "passed: Continued."),
    ("opencode-sigint-in-bash", "failed: no final event (killed by signal 2 (INT))"),
    ("opencode-sigterm-in-bash", "failed: no final event (killed by signal 15 (TERM))"),
    ("opencode-skill-tool", "passed: Used."),
    ("opencode-success", "passed: All done."),
    ("opencode-todo-subagent-edit", "passed: Finished."),
];

/// Whether the message starts as expected, with as many refusals.
pub fn is_as(got: &str, expected: &str) -> bool {
    let split = |text: &str| {
        text.rsplit_once(" / ").map_or((text.to_owned(), None), |(a, n)| (a.to_owned(), n.parse().ok()))
    };
    let ((got, refused), (expected, count)): ((_, Option<usize>), (String, Option<usize>)) =
        (split(got), split(expected));
    got.starts_with(&expected) && refused == count
}

/// Compares every case with the table, in both directions.
fn judge(tool: &str, folder: &Path, table: &[(&str, &str)]) {
    let cases = cases(folder, tool);
    let mut wrong = Vec::new();
    for case in &cases {
        let got = words(&read(tool, case, |_| {}));
        match table.iter().find(|(name, _)| *name == case.name) {
            Some((_, expected)) if is_as(&got, expected) => {}
            expected => wrong.push(format!("{}: {got}\n  instead of {expected:?}", case.name)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(cases.len(), table.len());
}

#[test]
#[cfg_attr(not(shared), ignore = "what others wrote is not beside the repository")]
fn every_shared_case_of_opencode_has_its_outcome() {
    judge("opencode", &folder(), OPENCODE);
}

#[test]
#[cfg_attr(not(shared), ignore = "what others wrote is not beside the repository")]
fn every_shared_case_of_claude_has_its_outcome() {
    judge("claude", &folder(), CLAUDE);
}

/// One case of Claude Code.
fn case(name: &str) -> Case {
    cases(&folder(), "claude").into_iter().find(|case| case.name == name).expect(name)
}

/// What is shown.
fn shown(name: &str) -> Read {
    read("claude", &case(name), |_| {})
}

/// The progress of its tool calls.
pub fn tools(read: &Read) -> Vec<String> {
    let tool = |signal: &Signal| match signal {
        Signal::Progress(Progress::Tool { title, status, parent, files, .. }) => Some(format!(
            "{title} {status}{} {}",
            if parent.is_some() { " (sub)" } else { "" },
            files.join(",")
        )),
        _ => None,
    };
    read.signals.iter().filter_map(tool).map(|line| line.trim().to_owned()).collect()
}

/// All text that is shown.
pub fn text(read: &Read) -> String {
    let text = |signal: &Signal| match signal {
        Signal::Progress(Progress::Text { text }) => Some(text.clone()),
        _ => None,
    };
    read.signals.iter().filter_map(text).collect()
}

#[test]
#[cfg_attr(not(shared), ignore = "what others wrote is not beside the repository")]
fn tool_calls_files_text_and_usage_are_shown() {
    let read = shown("claude-success");
    assert_eq!(
        tools(&read),
        [
            "Write hello.txt running",
            "Write hello.txt done hello.txt",
            "Bash cat hello.txt running",
            "Bash cat hello.txt done"
        ]
    );
    assert!(text(&read).ends_with("All done.\n"));
    let usage = read.ending.unwrap().usage;
    assert_eq!(usage.tokens, Some(39017));
    assert!((usage.cost.unwrap() - 0.156_868).abs() < 1e-9);
    assert!(
        read.signals.iter().any(|s| matches!(s, Signal::Session(session) if session.harness == "claude"))
    );
}

#[test]
#[cfg_attr(not(shared), ignore = "what others wrote is not beside the repository")]
fn streamed_text_is_shown_once() {
    let read = shown("claude-success-partial");
    let all = text(&read);
    assert_eq!(all.matches("All done.").count(), 1, "{all}");
}

#[test]
#[cfg_attr(not(shared), ignore = "what others wrote is not beside the repository")]
fn the_cost_of_a_resumed_session_is_the_difference() {
    let session =
        superpower::outcome::Session { harness: "claude".to_owned(), id: "11111111-2222".to_owned() };
    let resumed = read("claude", &case("claude-resume"), |launch| launch.session = Some(session.clone()));
    let resumed = resumed.ending.unwrap().usage;
    assert_eq!(resumed.tokens, Some(2739));
    assert!((resumed.cost.unwrap() - 0.005_502).abs() < 1e-9);
    let again = read("claude", &case("claude-resume-unknown"), |launch| launch.session = Some(session));
    assert!(again.ending.is_none(), "a session that is gone is no failure");
}

#[test]
#[cfg_attr(not(shared), ignore = "what others wrote is not beside the repository")]
fn subagents_are_shown_under_their_parent_and_to_do_lists_are_shown() {
    let read = shown("claude-subagent");
    assert!(tools(&read).contains(&"Read README.md running (sub)".to_owned()), "{:?}", tools(&read));
    let read = shown("claude-todo-todowrite");
    let todo = read.signals.iter().find_map(|signal| match signal {
        Signal::Progress(Progress::Todo { items }) => Some(items.clone()),
        _ => None,
    });
    let items: Vec<String> = todo.unwrap().into_iter().map(|i| format!("{} {}", i.status, i.text)).collect();
    assert_eq!(items, ["in_progress Write the parser", "pending Test it"]);
    let read = shown("claude-retry-then-success");
    assert!(read.signals.iter().any(|s| matches!(s, Signal::Progress(Progress::Waiting { .. }))));
}
