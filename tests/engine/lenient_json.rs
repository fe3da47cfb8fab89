//! JSON as other programs really write it, for every reader in the engine. A new reader needs one row in `DOORS`.

use super::claude::scripted;
use super::launched::{ended, launch_in, start};
use super::opencode_server::play;
use crate::world::World;
use serde_json::{Value, json};
use std::path::Path;
use superpower::checkpoint::record::Record;
use superpower::driver::verdict::verdict;
use superpower::harness::{Actions, End, Harnesses, Stopped, of, resolve};
use superpower::outcome::Outcome;
use superpower::process::Exit;
use superpower::store::squad;

/// The result of reading a text.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Read {
    /// It understood the word.
    Word(String),
    /// It reported an error with this text.
    Named(String),
    /// It read nothing and reported nothing, which is always wrong.
    Nothing,
}

/// A form: its name, how it changes a strict object, and whether the result can be understood.
type Form = (&'static str, fn(&str) -> String, Understood);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Understood {
    Always,
    /// Where an object may be surrounded by other text, so not in a document.
    AmongOthers,
    /// It cannot be understood, and is reported.
    Never,
}
use Understood::{Always, AmongOthers, Never};

const FORMS: &[Form] = &[
    ("as it should be", str::to_owned, Always),
    ("a BOM", |it| format!("\u{feff}{it}"), Always),
    ("characters without a width", |it| it.replace('{', "{\u{200b}").replace(':', "\u{2060}:"), Always),
    ("a lone surrogate", |it| it.replacen('{', r#"{"x":"\ud83d","#, 1), Always),
    ("a lone low surrogate in a key", |it| it.replacen('{', r#"{"\udead":1,"#, 1), Always),
    ("raw control characters", |it| it.replacen('{', "{\"x\":\"a\tb\u{1}\u{1b}[0m\",", 1), Always),
    ("an escape that JSON has not", |it| it.replacen('{', r#"{"x":"C:\dir\u00","#, 1), Always),
    ("a trailing comma", |it| it.replacen('}', ",}", 1), Always),
    ("every key twice", |it| format!("{},{}", it[..it.len() - 1].replace("FAIL", "PASS"), &it[1..]), Always),
    ("a huge number", |it| it.replacen('{', &format!("{{\"x\":{},\"y\":1e999,", "9".repeat(500)), 1), Always),
    ("no number", |it| it.replacen('{', "{\"x\":NaN,", 1), Always),
    ("a line end of DOS", |it| format!("{it}\r"), Always),
    ("colours", |it| format!("\u{1b}[1;31m{it}\u{1b}[0m"), Always),
    ("a window's title", |it| format!("\u{1b}]0;work\u{7}{it}"), Always),
    ("words before", |it| format!("bye from a hook {it}"), AmongOthers),
    ("words behind", |it| format!("{it} $ "), AmongOthers),
    ("braces before", |it| format!("{{x}} {{}} fn() {{ {it}"), AmongOthers),
    ("a comma is missing", |it| it.replacen('{', r#"{"x":1 "#, 1), Never),
    ("the text ends early", |it| it[..it.len() - 1].to_owned(), Never),
    ("the text ends in a string", |it| format!("{},\"x\":\"half", &it[..it.len() - 1]), Never),
];

/// A reader: its name, the strict object that means `word` there, its function, and whether it reads a document.
type Door = (&'static str, fn() -> String, fn(&str) -> Read, bool);

const DOORS: &[Door] = &[
    ("a verdict", || r#"{"verdict":"FAIL"}"#.into(), read_verdict, false),
    ("a result of Claude Code", || result().to_string(), read_claude, false),
    ("an event of OpenCode's run", || opencode().to_string(), read_opencode, false),
    ("squad.json", || r#"{"active_superpower":"FAIL"}"#.into(), read_squad, true),
    ("metadata.json", || r#"{"name":"FAIL"}"#.into(), read_metadata, true),
];

fn result() -> Value {
    json!({"type": "result", "subtype": "success", "is_error": false, "num_turns": 1, "result": "FAIL"})
}

fn opencode() -> Value {
    json!({"type": "text", "sessionID": "ses_1", "part": {"type": "text", "text": "FAIL"}})
}

fn read_verdict(text: &str) -> Read {
    match (verdict(text).word(), verdict(text)) {
        (Some(word), _) => Read::Word(word.to_owned()),
        (_, superpower::driver::verdict::Verdict::Unreadable) => {
            Read::Named("the verdict cannot be read".into())
        }
        _ => Read::Nothing,
    }
}

/// The result of a harness for these lines, without a process.
fn played(tool: &str, args: &[&str], lines: &[&str]) -> (Outcome, String) {
    let mut harnesses = Harnesses::default();
    let settings = harnesses.named.get_mut(tool).unwrap();
    settings.cmd = vec!["/bin/true".to_owned()];
    settings.args = args.iter().map(|&arg| arg.to_owned()).collect();
    let mut harness = of(
        &resolve(tool, &harnesses, None).unwrap(),
        &launch_in(Path::new("/project")),
        &superpower::process::Secrets::default(),
    );
    harness.invocation();
    let mut to = Actions::default();
    for line in lines {
        harness.line(line, 0, &mut to);
    }
    let stopped = to.stop.then_some(Stopped::Harness);
    let ending = harness.end(&End { exit: Exit::Code(0), stopped }, &mut to).expect("an end");
    (ending.outcome, ending.message)
}

fn heard((outcome, message): (Outcome, String)) -> Read {
    match outcome {
        Outcome::Passed => Read::Word(message),
        Outcome::Failed { why } if why.contains("cannot read a line") => Read::Named(why),
        _ => Read::Nothing,
    }
}

fn read_claude(line: &str) -> Read {
    heard(played("claude", &[], &[line]))
}

fn read_opencode(line: &str) -> Read {
    let begin = r#"{"type":"step_start","sessionID":"ses_1","part":{}}"#;
    let end = r#"{"type":"step_finish","sessionID":"ses_1","part":{"reason":"stop"}}"#;
    heard(played(
        "opencode",
        &["run"],
        &[begin, r#"{"type":"text","part":{"text":"{\"verdict\":\"PASS\"}"}}"#, begin, line, end],
    ))
}

fn read_squad(text: &str) -> Read {
    let dir = tempfile::tempdir().unwrap();
    let path = squad::path(dir.path());
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    match squad::read(dir.path()) {
        Ok(Some(squad)) => Read::Word(squad.active_superpower),
        Ok(None) => Read::Nothing,
        Err(error) => Read::Named(error.to_string()),
    }
}

fn read_metadata(text: &str) -> Read {
    match Record::parse(text) {
        Ok(record) => Read::Word(record.json()["name"].as_str().unwrap_or_default().to_owned()),
        Err(error) => Read::Named(error.to_string()),
    }
}

#[test]
fn every_door_reads_or_reports_every_form() {
    let mut wrong = Vec::new();
    for (door, object, read, document) in DOORS {
        for (form, twist, understood) in FORMS {
            let text = twist(&object());
            let found = read(&text);
            let right = match (&found, understood) {
                (Read::Word(word), Always) => word == "FAIL",
                (Read::Word(word), AmongOthers) => !document && word == "FAIL",
                (Read::Named(why), AmongOthers) => *document && !why.is_empty(),
                (Read::Named(why), Never) => !why.is_empty(),
                _ => false,
            };
            if !right {
                wrong.push(format!("{door}, {form}: {found:?} of {text:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_unreadable_document_is_reported_with_its_position_and_saved() {
    let world = World::new();
    world.declare("one", "stages:\n  - {agent: a}\n");
    let torn = "{\n  \"active_superpower\": \"one\",\n  \"current_stage\": }";
    world.write(".claude/state/squad.json", torn);
    let message = world.refused("resume", json!({}), "unreadable-squad");
    assert!(message.contains("a value is missing, at line 3, column 20"), "{message}");
    let aside =
        message.split('"').find(|part| part.contains("squad.json.corrupt-")).expect("where it is kept");
    let name = Path::new(aside).file_name().unwrap().to_str().unwrap();
    assert_eq!(world.read(&format!(".claude/state/{name}")), torn);
}

#[test]
fn a_leniently_read_document_is_written_back_unchanged() {
    let dir = tempfile::tempdir().unwrap();
    let path = squad::path(dir.path());
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(
        &path,
        "\u{feff}{\"active_superpower\": \"old\", \"theirs\": [1, 2,], \"x\": \"\\ud83d\",}",
    )
    .unwrap();
    let read = squad::read(dir.path()).unwrap().unwrap();
    let aside = squad::write(dir.path(), &read, None, chrono::Utc::now()).unwrap();
    assert_eq!(aside, None, "it is not moved out of the way");
    let written = std::fs::read_to_string(&path).unwrap();
    assert!(written.contains("\"x\": \"\\ud83d\""), "half a pair stays half a pair: {written}");
    let written: Value = serde_json::from_str(&written.replace("\\ud83d", "")).unwrap();
    assert_eq!((&written["active_superpower"], &written["theirs"]), (&json!("old"), &json!([1, 2])));
}

/// The agent has finished, even if a terminal title is on the line.
#[test]
fn text_around_the_last_event_is_ignored() {
    for (before, behind) in
        [("\\x1b]0;work\\x07", ""), ("bye from a hook", ""), ("", " $ "), ("\\x1b[2K> ", "\\x1b[0m")]
    {
        let dir = tempfile::tempdir().unwrap();
        let script = format!(
            "init()\nprint('{before}' + json.dumps(dict(type='result', subtype='success', is_error=False, num_turns=1, result='done')) + '{behind}', flush=True)\nrest()\n"
        );
        let (_running, signals) = start("claude", &scripted(dir.path(), &script), launch_in(dir.path()));
        let ending = ended(&signals).1;
        assert_eq!((ending.outcome, &*ending.message), (Outcome::Passed, "done"), "{before:?}");
    }
}

#[test]
fn an_unreadable_deciding_event_fails_at_once_with_its_line() {
    for line in
        [r#"{"type":"result","result":"do"#, r#"{"type":"control_request","request_id":"r1","request":{"#]
    {
        let dir = tempfile::tempdir().unwrap();
        let script = format!("init()\nprint({line:?}, flush=True)\nrest()\n");
        let (_running, signals) = start("claude", &scripted(dir.path(), &script), launch_in(dir.path()));
        let Outcome::Failed { why } = ended(&signals).1.outcome else { panic!("{line}") };
        assert!(why.starts_with("cannot read a line of Claude Code (unexpected end: {\"type\":"), "{why}");
    }
    let served = play(
        "def work(body):\n    say('half'); events.put('{\"type\": \"session.idle\", \"properties\": {\"sessionID\": ')",
        |_, _| {},
    );
    let Outcome::Failed { why } = ended(&served.signals).1.outcome else { panic!() };
    assert!(why.starts_with("cannot read a line of OpenCode (unexpected end"), "{why}");
}
