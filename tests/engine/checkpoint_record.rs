//! The document: statuses, keys, merging, and what other tools wrote.

use chrono::{DateTime, TimeZone, Utc};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use superpower::checkpoint::merge::{Written, merge};
use superpower::checkpoint::record::{FixCycles, Record, Unreadable};
use superpower::checkpoint::status::{Status, read_time, stamp};
use superpower::checkpoint::update::{Start, Tracker};
use superpower::checkpoint::{keys, lines};
use superpower::declaration::model::{Action, Pipeline};
use superpower::tolerant::numbers::{hide, show};

pub fn noon() -> DateTime<Utc> {
    Utc.with_ymd_and_hms(2026, 2, 13, 12, 0, 0).unwrap()
}

const FORMS: [(&str, &str); 4] = [
    ("v1", include_str!("../fixtures/checkpoints/v1.json")),
    ("v2", include_str!("../fixtures/checkpoints/v2.json")),
    ("v3", include_str!("../fixtures/checkpoints/v3.json")),
    ("parallel", include_str!("../fixtures/checkpoints/parallel.json")),
];

/// Every leaf with its path, in order, numbers as their text.
fn leaves(prefix: &str, value: &Value, into: &mut Vec<(String, String)>) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            map.iter().for_each(|(name, value)| leaves(&format!("{prefix}/{name}"), value, into));
        }
        Value::Array(list) if !list.is_empty() => {
            list.iter().enumerate().for_each(|(at, value)| leaves(&format!("{prefix}/{at}"), value, into));
        }
        leaf => into.push((prefix.to_owned(), leaf.to_string())),
    }
}

fn leaves_of(text: &str) -> Vec<(String, String)> {
    let mut into = Vec::new();
    leaves("", &serde_json::from_str(text).unwrap(), &mut into);
    into
}

#[test]
fn the_transition_table_is_complete() {
    use Status::{Blocked, Failed, InProgress, NotStarted, Passed};
    let legal = [
        (NotStarted, InProgress),
        (InProgress, InProgress),
        (InProgress, Passed),
        (InProgress, Failed),
        (InProgress, Blocked),
        (Passed, InProgress),
        (Failed, InProgress),
        (Blocked, InProgress),
    ];
    for from in Status::ALL {
        for to in Status::ALL {
            assert_eq!(from.step(to).is_ok(), legal.contains(&(from, to)), "{from:?} → {to:?}");
        }
    }
}

#[test]
fn an_illegal_transition_names_the_legal_ones() {
    let error = Status::Failed.step(Status::Blocked).unwrap_err().to_string();
    assert_eq!(
        error,
        "a checkpoint that is \"FAILED\" cannot become \"BLOCKED\"; it can become \"IN_PROGRESS\""
    );
    let error = Status::InProgress.step(Status::NotStarted).unwrap_err().to_string();
    assert!(error.ends_with("it can become \"IN_PROGRESS\", \"PASSED\", \"FAILED\", \"BLOCKED\""), "{error}");
}

#[test]
fn times_without_zone_and_with_z_are_both_read() {
    let noon = noon();
    for text in [
        "2026-02-13T12:00:00Z",
        "2026-02-13T12:00:00",
        "2026-02-13 12:00:00",
        "2026-02-13T13:00:00+01:00",
        "2026-02-13T07:00:00-0500",
        "2026-02-13T12:00:00.000000",
        "2026-02-13T12:00Z",
        " 2026-02-13T12:00:00.000Z ",
    ] {
        assert_eq!(read_time(text), Some(noon), "{text}");
    }
    assert_eq!(read_time("2026-02-13"), Some(Utc.with_ymd_and_hms(2026, 2, 13, 0, 0, 0).unwrap()));
    assert_eq!(read_time("yesterday"), None);
    assert_eq!(stamp(noon), "2026-02-13T12:00:00Z");
}

#[test]
fn foreign_values_keep_their_order_and_number_format() {
    // What this start of `EXECUTE` may write.
    let ours = [
        "/loop_state/current_step",
        "/loop_state/step_status",
        "/loop_state/step_started_at",
        "/loop_state/checkpoints/EXECUTE/status",
        "/loop_state/checkpoints/EXECUTE/started_at",
        "/loop_state/checkpoints/EXECUTE/agent",
    ];
    for (form, text) in FORMS {
        let mut record = Record::parse(text).unwrap();
        let mut tracker = Tracker::default();
        let start = Start { key: "EXECUTE".into(), agent: "us".into(), first: true, ..Start::default() };
        tracker.started(start, Some(&record), noon());
        tracker.apply(&mut record, noon());
        let foreign = |leaves: Vec<(String, String)>| -> Vec<_> {
            leaves.into_iter().filter(|(path, _)| !ours.contains(&path.as_str())).collect()
        };
        let before = foreign(leaves_of(text));
        let after: Vec<_> =
            leaves_of(&record.text()).into_iter().filter(|leaf| before.contains(leaf)).collect();
        assert_eq!(after, before, "{form}");
        assert_eq!(record.current_step(), Some("EXECUTE"), "{form}");
        assert_eq!(record.checkpoint("EXECUTE").unwrap().status(), Some(Status::InProgress), "{form}");
    }
}

#[test]
fn an_unchanged_document_is_written_back_unchanged() {
    for (form, text) in FORMS {
        assert_eq!(leaves_of(&Record::parse(text).unwrap().text()), leaves_of(text), "{form}");
    }
    // JSON parsers may treat 1.10 and 1.1 as equal, so compare the text.
    let strings = regex::Regex::new(r#""(\\.|[^"\\])*""#).unwrap();
    let number = regex::Regex::new(r"-?\d[\d.eE+-]*").unwrap();
    let numbers = |text: &str| -> Vec<String> {
        let bare = strings.replace_all(text, "").into_owned();
        number.find_iter(&bare).map(|found| found.as_str().to_owned()).collect()
    };
    for (form, text) in FORMS {
        assert_eq!(numbers(&Record::parse(text).unwrap().text()), numbers(text), "{form}");
    }
    let text = Record::parse(FORMS[2].1).unwrap().text();
    assert!(text.starts_with("{\n  \"version\": 3,\n"), "two-space indent");
}

#[test]
fn exponents_keep_their_text_and_errors_stay_errors() {
    for text in ["1e3", "-1.50E-7", "[0e0,1E+2,10]", "{\"a\":\"1e3 \\\" 2e5\",\"b\":2e5}", "\"é1e3\""] {
        let hidden = hide(text);
        assert!(serde_json::from_str::<Value>(&hidden).is_ok(), "{hidden}");
        assert_eq!(show(&hidden), text);
    }
    for text in ["1e", "01e3", "-", "1.e3", "\"1e3", "1e3e4", "é", "\"\\"] {
        assert!(serde_json::from_str::<Value>(&hide(text)).is_err(), "{text}");
    }
}

#[test]
fn alternative_names_are_read_and_reported_but_never_written() {
    let record = Record::parse(FORMS[3].1).unwrap();
    assert_eq!(record.interrupted_at(), Some("Task 2.1"), "the checkpoint is found under its other name");
    assert_eq!(record.checkpoint("PARALLEL_EXECUTE").unwrap().tasks(), Some((4, 8)));
    assert_eq!(record.checkpoint("RETROSPECTIVE").unwrap().status(), Some(Status::Passed));
    assert_eq!(
        record.foreign(),
        [
            "current_step is \"PARALLEL_EXECUTE\"",
            "step_status is \"PARTIAL_FAIL\"",
            "the status of \"EVALUATE_PLAN\" is \"BOARD_REVIEW\"",
            "there is a checkpoint \"PARALLEL_EXECUTE\"",
        ]
    );
    assert!(lines(&record).iter().any(|line| line == "from another tool: step_status is \"PARTIAL_FAIL\""));
    let action = |name: &str| Action::Agent(name.into());
    let found = keys([
        (Some("complete"), Some(&action("a"))),
        (Some("parallel-execute"), Some(&action("b"))),
        (None, Some(&action("skipped"))),
    ]);
    assert_eq!(
        found.into_iter().flatten().collect::<Vec<_>>(),
        ["COMPLETE_STAGE", "PARALLEL_EXECUTE_STAGE", "SKIPPED_STAGE"]
    );
}

#[test]
fn protocol_jobs_have_protocol_keys_and_others_their_names() {
    let agent = |name: &str| Some(Action::Agent(name.into()));
    let skill = |name: &str| Some(Action::Skill(name.into()));
    let stages = [
        (Some("first"), skill("superpowers:writing-plans"), Some("PLAN")),
        (None, agent("loop-plan-evaluator"), Some("EVALUATE_PLAN")),
        (None, agent("ux-researcher"), Some("UX_RESEARCHER")),
        (None, agent("ux-researcher"), Some("UX_RESEARCHER_2")),
        (Some("plan"), agent("somebody"), Some("PLAN_2")),
        (None, None, None),
        (None, skill("executing-plans"), Some("EXECUTE")),
        (None, agent("loop-executor"), Some("EXECUTE")),
        (None, agent("loop-execution-evaluator"), Some("EVALUATE_EXECUTION")),
        (None, agent("loop-fixer"), Some("FIX")),
        (None, skill("systematic-debugging"), Some("FIX")),
        (None, skill("brainstorming"), Some("BRAINSTORM")),
        (None, agent("business-docs-sync"), Some("BUSINESS_SYNC")),
        (Some("uxCheck v2"), agent("x"), Some("UX_CHECK_V2")),
        (None, Some(Action::Pipeline(Pipeline::Standard8Phase)), Some("STANDARD_8_PHASE")),
    ];
    let found = keys(stages.iter().map(|(name, action, _)| (*name, action.as_ref())));
    let wanted: Vec<_> = stages.iter().map(|(_, _, key)| key.map(str::to_owned)).collect();
    assert_eq!(found, wanted);
}

#[test]
fn invalid_documents_are_recognised() {
    for text in ["", "{\"loop_state\": {\"curr", "nonsense"] {
        assert!(matches!(Record::parse(text), Err(Unreadable::NotJson(_))), "{text}");
    }
    for text in ["[]", "null", "{\"loop_state\": 3}", "{\"loop_state\": {\"checkpoints\": []}}"] {
        assert!(matches!(Record::parse(text), Err(Unreadable::NotAnObject(_))), "{text}");
    }
    for text in ["{}", "\u{feff}{}", "{\"loop_state\": null}", "{\"loop_state\": {\"checkpoints\": null}}"] {
        assert!(Record::parse(text).is_ok(), "{text}");
    }
}

#[test]
fn an_evaluators_fix_cycle_is_counted_once() {
    let document = |state: Value| Record::parse(&json!({ "loop_state": state }).to_string()).unwrap();
    let next = |state: Value| document(state).next_fix();
    assert_eq!(next(json!({})), FixCycles { count: 1, max: 3 });
    assert_eq!(next(json!({ "fix_cycle_count": 1 })).count, 1, "an evaluator has raised it before the first");
    assert_eq!(next(json!({ "fix_cycle_count": 2, "max_fix_cycles": 5 })), FixCycles { count: 2, max: 5 });
    let ran = json!({ "FIX": { "status": "PASSED", "cycle": 1 } });
    assert_eq!(next(json!({ "fix_cycle_count": 1, "checkpoints": ran })).count, 2);
    let prepared = json!({ "FIX": { "status": "NOT_STARTED", "cycle": 1 } });
    assert_eq!(next(json!({ "fix_cycle_count": 1, "checkpoints": prepared })).count, 1);

    let mut record = document(json!({}));
    for count in 1..=4 {
        record.begin_fix();
        assert_eq!(record.json()["loop_state"]["fix_cycle_count"], count);
    }
    // An evaluator resets the checkpoint without counting: the visit still counts.
    record.checkpoint_mut("FIX").insert("status".into(), json!("NOT_STARTED"));
    assert_eq!(record.next_fix().count, 5);
    assert!(record.next_fix().past());
}

/// A field name, from few names so that both sides share some.
fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["status", "notes", "progress", "tasks_total", "own", "cycle"])
        .prop_map(str::to_owned)
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-z]{0,4}".prop_map(Value::from),
        Just(serde_json::from_str("1.50").unwrap()),
    ];
    leaf.prop_recursive(2, 8, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec((name(), inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

fn fields() -> impl Strategy<Value = Map<String, Value>> {
    prop::collection::vec((name(), value()), 0..6).prop_map(|fields| fields.into_iter().collect())
}

#[test]
fn a_sign_without_digits_is_not_a_number() {
    for text in ["-E0", "-e1", "-", "--1e3", "-.5e1"] {
        assert_eq!(show(&hide(text)), text);
        assert!(serde_json::from_str::<Value>(&hide(text)).is_err(), "{text}");
    }
}

proptest! {
    #[test]
    fn hiding_numbers_is_reversible_for_any_text(text in "[-0-9eE.+,\"\\\\a é]{0,12}") {
        prop_assert_eq!(show(&hide(&text)).into_owned(), text.clone());
        let plain = serde_json::from_str::<Value>(&text).is_ok();
        prop_assert_eq!(serde_json::from_str::<Value>(&hide(&text)).is_ok(), plain);
    }

    #[test]
    fn merging_keeps_other_tools_changes(theirs in fields(), ours in fields()) {
        let mut merged = theirs.clone();
        let mut written = Written::default();
        merge(&mut merged, &ours, &mut written, &[]);
        // Nothing of theirs is lost or moved, except nulls and the contents of objects.
        let kept: Vec<_> = merged.keys().take(theirs.len()).collect();
        prop_assert_eq!(kept, theirs.keys().collect::<Vec<_>>());
        for (name, value) in &theirs {
            if !value.is_null() && !value.is_object() {
                prop_assert_eq!(&merged[name], value);
            }
        }
        // Every new field of ours is there.
        for (name, value) in &ours {
            if theirs.get(name).is_none_or(Value::is_null) {
                prop_assert_eq!(&merged[name], value);
            }
        }
        // A second merge changes nothing.
        let once = merged.clone();
        merge(&mut merged, &ours, &mut written, &[]);
        prop_assert_eq!(merged, once);
    }

    #[test]
    fn merging_updates_our_own_fields(first in fields(), second in fields(), foreign in value()) {
        let mut theirs: Map<String, Value> = [("foreign".to_owned(), foreign.clone())].into_iter().collect();
        let mut written = Written::default();
        merge(&mut theirs, &first, &mut written, &[]);
        merge(&mut theirs, &second, &mut written, &[]);
        prop_assert_eq!(&theirs["foreign"], &foreign);
        for (name, value) in second {
            if !value.is_object() {
                prop_assert_eq!(&theirs[&name], &value);
            }
        }
    }

    #[test]
    fn an_agents_stale_copy_of_our_values_is_updated(stale in 0_usize..20, writes in 2_usize..20) {
        let mut theirs = Map::new();
        let mut written = Written::default();
        let ours = |count: usize| -> Map<String, Value> {
            [("tasks_completed".to_owned(), json!(count))].into_iter().collect()
        };
        for count in 0..writes {
            merge(&mut theirs, &ours(count), &mut written, &[]);
        }
        theirs.insert("tasks_completed".into(), json!(stale % writes));
        merge(&mut theirs, &ours(writes), &mut written, &[]);
        prop_assert_eq!(&theirs["tasks_completed"], &json!(writes));
        theirs.insert("tasks_completed".into(), json!(writes + 7));
        merge(&mut theirs, &ours(writes + 1), &mut written, &[]);
        prop_assert_eq!(&theirs["tasks_completed"], &json!(writes + 7), "the agent knows better");
    }
}
