//! Documents as other tools write them: what can be understood is preserved, the rest is saved and reported.

use chrono::Utc;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;
use superpower::checkpoint::record::{Record, Unreadable};
use superpower::checkpoint::store::{Found, Store};
use superpower::checkpoint::{Place, rows};

const WAIT: Duration = Duration::from_secs(10);

/// Writes a checkpoint into a document; returns its new text, what was found, and the other files there.
fn written(bytes: &[u8]) -> (String, Found, Vec<PathBuf>) {
    changed(bytes, |record| _ = record.checkpoint_mut("PLAN").insert("status".into(), "PASSED".into()))
}

/// The same with any change.
fn changed(bytes: &[u8], change: impl Fn(&mut Record)) -> (String, Found, Vec<PathBuf>) {
    let dir = tempfile::tempdir().unwrap();
    let place = Place::of_run(dir.path(), dir.path());
    fs::write(place.document(), bytes).unwrap();
    let mut store = Store::new(place.clone());
    let found = store.update(Utc::now(), WAIT, |record, _| change(record)).unwrap();
    let beside = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path());
    let beside: Vec<_> = beside.filter(|path| *path != place.document()).collect();
    if let Some(aside) = &found.aside {
        assert_eq!(beside, std::slice::from_ref(&aside.path));
        assert_eq!(fs::read(&aside.path).unwrap(), bytes, "kept as it was");
    } else {
        assert!(beside.is_empty(), "{beside:?}");
    }
    (fs::read_to_string(place.document()).unwrap(), found, beside)
}

#[test]
fn understandable_documents_are_preserved() {
    let cases: [(&str, &str); 12] = [
        ("\u{feff}{\"a\": 1}", "\"a\": 1"),
        ("{\r\n  \"a\": \"x\\r\\n\",\r\n  \"b\": 2\r\n}\r\n", "\"a\": \"x\\r\\n\""),
        (r#"{"a": "half \ud83d of it", "b": "\ude00"}"#, r#""half \ud83d of it""#),
        (r#"{"a": "half \uD83D\uD83D\uDE00"}"#, "half \\uD83D\u{1f600}\""),
        (r#"{"a": "whole \ud83d\ude00"}"#, "\"whole \u{1f600}\""),
        (r#"{"a": [1, 2,], "b": {"c": 3,},}"#, "\"c\": 3"),
        ("{\"a\": \"raw\ttab\u{1}\"}", "\"raw\\ttab\\u0001\""),
        ("{\"a\": \"zero\u{0}inside\"}", "\"zero\\u0000inside\""),
        ("{\"a\": 1}\u{0}\u{0}\u{0}", "\"a\": 1"),
        ("{\"a\": 123456789012345678901234567890.10, \"b\": 1e999999}", "1e999999"),
        ("{\"a\": NaN, \"b\": -Infinity, \"c\": \"NaN\", \"d\": [Infinity]}", "\"b\": -Infinity"),
        ("{\"a\": \"\\\\ud83d \\\" ,}\", \"b\": \"\\ud83d\",}", "\"\\\\ud83d \\\" ,}\""),
    ];
    for (text, wanted) in cases {
        let (now, found, _) = written(text.as_bytes());
        assert!(now.contains(wanted), "{text:?} became {now}");
        assert!(now.contains("\"PLAN\""), "{now}");
        assert_eq!(found.aside, None, "{text:?}");
        // A second time gives the same: what was read leniently is written so that it can be read again.
        let again = Record::parse(&now).unwrap();
        assert_eq!(again.text(), now);
    }
}

#[test]
fn unreadable_documents_are_moved_aside() {
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    let cases: [&[u8]; 10] = [
        b"",
        b"\0\0\0\0",
        b"{\"loop_state\": {\"current_step\": \"PL",
        b"{\"a\": 1}}",
        b"{\"a\": \"\xff\xfe\"}",
        b"\xff\xfe{\x00}\x00",
        b"{\"a\": 01}",
        b"[1, 2,]",
        b"{\"loop_state\": {\"checkpoints\": [],}}",
        deep.as_bytes(),
    ];
    for bytes in cases {
        let (now, found, _) = written(bytes);
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(40)]).into_owned();
        assert!(found.aside.is_some(), "{shown:?}");
        assert!(now.contains("\"PLAN\""), "{shown:?}: {now}");
    }
}

#[test]
fn a_duplicate_key_is_reported_and_the_document_saved() {
    for (text, name) in [
        (r#"{"a": 1, "b": {"c": 1, "c": 2}, "loop_state": {}}"#, "c"),
        (
            r#"{"loop_state": {"checkpoints": {"PLAN": {"status": "FAILED"}, "PLAN": {"status": "BLOCKED"}}}}"#,
            "PLAN",
        ),
        (r#"{"a": [1e3, {"x": 1, "\u0078": 2}],}"#, "x"),
    ] {
        let (now, found, beside) = written(text.as_bytes());
        let aside = found.aside.unwrap();
        assert_eq!(aside.why, Unreadable::Twice(name.into()), "{text}");
        assert!(aside.why.to_string().contains(&format!("\"{name}\" occurs twice")));
        assert!(beside[0].to_string_lossy().contains("metadata.json.before-"), "{beside:?}");
        assert!(now.contains("PASSED"), "{now}");
    }
}

/// Writes the start and the end of a step into a document with this state.
fn begun(state: &str) -> (String, Found, Vec<PathBuf>) {
    changed(format!("{{\"loop_state\": {{{state}}}}}").as_bytes(), |record| {
        record.set_current_step("PLAN", Utc::now());
        let plan = record.checkpoint_mut("PLAN");
        plan.insert("status".into(), "PASSED".into());
        plan.insert("agent".into(), "planner".into());
        plan.insert("output_files".into(), serde_json::json!([]));
    })
}

#[test]
fn a_value_that_cannot_be_used_is_reported_and_the_document_saved() {
    for (state, field, shown) in [
        (r#""current_step": {"a": 1}"#, "current_step", r#"{"a":1}"#),
        (r#""step_status": 5"#, "step_status", "5"),
        (r#""checkpoints": {"PLAN": {"status": ["PASSED"]}}"#, "status", r#"["PASSED"]"#),
        (r#""checkpoints": {"PLAN": {"output_files": "a.md"}}"#, "output_files", "\"a.md\""),
        (r#""checkpoints": {"PLAN": {"agent": {"x": 1}}}"#, "agent", r#"{"x":1}"#),
    ] {
        let (now, found, beside) = begun(state);
        let aside = found.aside.unwrap_or_else(|| panic!("{state} is not reported"));
        assert_eq!(aside.why, Unreadable::Unfit(field, shown.into()), "{state}");
        assert!(beside[0].to_string_lossy().contains("metadata.json.before-"), "{beside:?}");
        assert!(now.contains("PASSED"), "{now}");
    }
    // Null is no value, and a field of somebody else's is kept.
    for state in [r#""current_step": null"#, r#""checkpoints": {"OTHER": {"status": 5}}"#, r#""mood": [1]"#] {
        let (_, found, _) = begun(state);
        assert_eq!(found.aside, None, "{state}");
    }
}

#[test]
fn a_count_that_cannot_be_used_is_reported_and_one_too_large_is_beyond_every_limit() {
    for (count, shown) in [("\"two\"", "\"two\""), ("2.5", "2.5"), ("-5", "-5"), ("[1]", "[1]")] {
        let text = format!("{{\"loop_state\": {{\"fix_cycle_count\": {count}}}}}");
        let (_, found, _) = changed(text.as_bytes(), Record::begin_fix);
        assert_eq!(found.aside.unwrap().why, Unreadable::Unfit("fix_cycle_count", shown.into()), "{count}");
    }
    for count in ["1e400", "99999999999999999999", "18446744073709551615", "9"] {
        let record = Record::parse(&format!("{{\"loop_state\": {{\"fix_cycle_count\": {count}}}}}")).unwrap();
        assert!(record.next_fix().past(), "{count}");
    }
}

#[test]
fn a_checkpoint_that_is_not_an_object_is_kept_beside_ours() {
    for foreign in ["5", "true", "[1,2]"] {
        let text = format!("{{\"loop_state\": {{\"checkpoints\": {{\"PLAN\": {foreign}}}}}}}");
        let (now, found, _) = written(text.as_bytes());
        assert_eq!(found.aside, None);
        let now: serde_json::Value = serde_json::from_str(&now).unwrap();
        let plan = &now["loop_state"]["checkpoints"]["PLAN"];
        assert_eq!(plan["previous"].to_string(), foreign);
        assert_eq!(plan["status"], "PASSED");
    }
}

#[test]
fn a_lone_surrogate_is_shown_the_same_everywhere() {
    let text = r#"{"loop_state": {"checkpoints": {"PLAN": {"status": "PASSED", "notes": "half \ud83d!"}}}}"#;
    let rows = rows(&Record::parse(text).unwrap());
    assert_eq!(rows[0].notes.as_deref(), Some("half \u{fffd}!"));
}

/// Our own text is not parsed again. A text that another tool has put in its place is, and is saved if it holds more
/// than we can write.
#[test]
fn a_write_between_two_of_ours_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let place = Place::of_run(dir.path(), dir.path());
    let mut store = Store::new(place.clone());
    let mut write = |key: &str| {
        let change = |record: &mut Record, _| {
            record.checkpoint_mut(key).insert("status".into(), "PASSED".into());
        };
        let found = store.update(Utc::now(), WAIT, change).unwrap();
        let text = fs::read_to_string(place.document()).unwrap();
        assert_eq!(store.known().unwrap().text(), text);
        (text, found.aside.map(|aside| fs::read_to_string(aside.path).unwrap()))
    };
    write("PLAN");
    let (text, aside) = write("EXECUTE");
    assert!(text.contains("PLAN") && text.contains("EXECUTE") && aside.is_none(), "{text}");
    let theirs = r#"{"theirs": 1, "theirs": 2}"#;
    fs::write(place.document(), theirs).unwrap();
    let (text, aside) = write("REVIEW");
    assert!(text.contains("\"theirs\": 2") && !text.contains("PLAN"), "{text}");
    assert_eq!(aside.as_deref(), Some(theirs));
    let (text, aside) = write("FIX");
    assert!(text.contains("REVIEW") && text.contains("\"theirs\": 2") && aside.is_none(), "{text}");
}

/// Text of other tools is never mistaken for one of our markers, or the JSON parser's.
#[test]
fn text_that_looks_like_a_marker_is_preserved() {
    for kept in [
        "\"a\": \"\u{f8ff}number 5\"",
        "\"a\": \"\u{f8fe}d83d\"",
        "\"\u{f8fe}dead\": 1",
        "\"\u{f8ff}number 5\": \"\u{f8ff}\"",
        "\"a\": \"\u{fdd0}number 5\"",
        "\"\u{fdd1}d83d\": \"\u{fdd1}d83d\"",
        "\"a\": \"\u{fdd2}n\u{fdd2}g\u{fdd2}s\u{fdd2}\u{fdd2}\"",
        "\"a\": {\n    \"$serde_json::private::Number\": \"5\"\n  }",
        "\"a\": {\n    \"$serde_json::private::Number\": \"no number\"\n  }",
        "\"a\": {\n    \"$serde_json::private::RawValue\": \"[1]\"\n  }",
        "\"$serde_json::private::Number\": \"5\"",
        "\"a\": \"$serde_json::private::Number\"",
        "\"a\": 1e3",
        "\"a\": \"x\\\\u{fdd0}\"",
    ] {
        let (now, found, _) = written(format!("{{\n  {kept}\n}}\n").as_bytes());
        assert!(now.contains(kept), "{kept} became {now}");
        assert_eq!(found.aside, None, "{kept}");
        assert_eq!(Record::parse(&now).unwrap().text(), now, "{kept}");
        // The same if the text must be repaired first.
        let (repaired, _, _) = written(format!("{{\n  {kept},\n}}\n").as_bytes());
        assert_eq!(repaired.replace(char::is_whitespace, ""), now.replace(char::is_whitespace, ""), "{kept}");
    }
    let escaped = r#"{"\ufdd0number 1": "\uFDD1dead", "b": {"\u0024serde_json::private::Number": "5"}}"#;
    let (now, ..) = written(escaped.as_bytes());
    let wanted = ["\"\u{fdd0}number 1\": \"\u{fdd1}dead\"", "\"$serde_json::private::Number\": \"5\""];
    assert!(wanted.iter().all(|wanted| now.contains(wanted)), "{now}");
}
