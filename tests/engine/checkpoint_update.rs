//! What is written when, with a test clock.

use crate::checkpoint_record::noon;
use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};
use superpower::checkpoint::end::{End, summary};
use superpower::checkpoint::record::Record;
use superpower::checkpoint::update::{Start, Tracker};
use superpower::checkpoint::{Place, figures, parameters};
use superpower::harness::TodoItem;
use superpower::outcome::Outcome;

/// A run with a document in memory and a test clock.
struct Run {
    tracker: Tracker,
    record: Record,
    now: DateTime<Utc>,
    writes: Vec<DateTime<Utc>>,
}

impl Run {
    fn new() -> Self {
        Self::on(Record::minimal(None, noon()))
    }

    fn on(record: Record) -> Self {
        Self { tracker: Tracker::default(), record, now: noon(), writes: Vec::new() }
    }

    fn start(&mut self, key: &str, first: bool) {
        let start = Start { key: key.into(), agent: format!("agent of {key}"), first, ..Start::default() };
        self.tracker.started(start, Some(&self.record), self.now);
        self.settle();
    }

    fn todo(&mut self, items: &[(&str, &str)]) {
        if self.tracker.todo(&list(items)) {
            self.tracker.head(&"a".repeat(40), true);
        }
        self.settle();
    }

    fn end(&mut self, end: &End) {
        self.tracker.ended(end, self.now).unwrap();
        self.settle();
    }

    /// Writes if it is due.
    fn settle(&mut self) {
        if self.tracker.due().is_some_and(|due| due <= self.now) {
            self.tracker.apply(&mut self.record, self.now);
            self.writes.push(self.now);
        }
    }

    fn wait(&mut self, seconds: i64) {
        for _ in 0..seconds {
            self.now += TimeDelta::seconds(1);
            self.settle();
        }
    }

    fn state(&self) -> &Value {
        &self.record.json()["loop_state"]
    }

    fn checkpoint(&self, key: &str) -> &Value {
        &self.state()["checkpoints"][key]
    }
}

fn list(items: &[(&str, &str)]) -> Vec<TodoItem> {
    items.iter().map(|(text, status)| TodoItem { text: (*text).into(), status: (*status).into() }).collect()
}

fn passed() -> End {
    End::Passed { notes: "all done".into() }
}

#[test]
fn a_start_writes_in_progress_with_agent_and_time() {
    let mut run = Run::new();
    run.start("PLAN", true);
    assert_eq!(run.state()["current_step"], "PLAN");
    assert_eq!(run.state()["step_status"], "IN_PROGRESS");
    assert_eq!(run.state()["step_started_at"], "2026-02-13T12:00:00Z");
    assert_eq!(
        *run.checkpoint("PLAN"),
        json!({
            "status": "IN_PROGRESS", "started_at": "2026-02-13T12:00:00Z", "completed_at": null,
            "agent": "agent of PLAN", "output_files": [], "notes": "", "last_updated": "2026-02-13T12:00:00Z"
        })
    );
}

#[test]
fn a_complete_plan_matches_the_protocol() {
    let mut run = Run::new();
    run.start("PLAN", true);
    run.wait(60);
    run.todo(&[
        ("Phase 1: read", "completed"),
        ("Phase 2: design", "in_progress"),
        ("Phase 2: check", "pending"),
    ]);
    assert_eq!(
        run.checkpoint("PLAN")["progress"],
        json!({
            "current_phase": 2, "total_phases": 2, "current_task": "Phase 2: design",
            "tasks_completed": 1, "tasks_total": 3
        })
    );
    run.tracker.files(["docs/plan.md".to_owned(), ".claude/state/squad.json".into(), "../up".into()]);
    run.wait(1);
    run.end(&passed());
    let plan = run.checkpoint("PLAN");
    assert_eq!(plan["status"], "PASSED");
    assert_eq!(plan["completed_at"], "2026-02-13T12:01:01Z");
    assert_eq!(plan["output_files"], json!(["docs/plan.md"]));
    assert_eq!(plan["notes"], "all done");
    assert_eq!(run.state()["step_status"], "PASSED");
}

#[test]
fn progress_is_written_at_most_once_a_second() {
    let mut run = Run::new();
    run.start("EXECUTE", true);
    for step in 0..100 {
        run.now += TimeDelta::milliseconds(50);
        run.todo(&[("a", if step % 2 == 0 { "pending" } else { "in_progress" })]);
    }
    run.wait(2);
    assert!(run.writes.windows(2).all(|pair| pair[1] - pair[0] >= TimeDelta::seconds(1)), "{:?}", run.writes);
    assert!((5..=7).contains(&run.writes.len()), "{}", run.writes.len());
    assert_eq!(run.checkpoint("EXECUTE")["progress"]["current_task"], "a", "the last one is written");
}

#[test]
fn a_step_in_progress_is_written_at_least_every_five_minutes() {
    let mut run = Run::new();
    run.start("UX_RESEARCHER", true);
    run.wait(3601);
    assert_eq!(run.writes.len(), 13);
    assert_eq!(run.checkpoint("UX_RESEARCHER")["last_updated"], "2026-02-13T13:00:00Z");
    run.end(&passed());
    run.wait(3600);
    assert_eq!(run.writes.len(), 14, "an ended one no more");
}

#[test]
fn execute_keeps_tasks_last_task_and_last_commit() {
    let mut run = Run::new();
    run.tracker.started(
        Start { key: "EXECUTE".into(), agent: "x".into(), first: true, total: Some(12), plan: None },
        Some(&run.record),
        run.now,
    );
    run.tracker.head(&"0".repeat(40), false);
    run.settle();
    assert_eq!(run.checkpoint("EXECUTE")["tasks_total"], 12, "at the start, from the plan");
    assert_eq!(run.checkpoint("EXECUTE")["last_commit"], Value::Null, "nobody's commit of this step");
    run.wait(2);
    run.todo(&[("Task 1", "completed"), ("Task 2", "in_progress"), ("Task 3", "pending")]);
    let execute = run.checkpoint("EXECUTE");
    assert_eq!((&execute["tasks_total"], &execute["tasks_completed"]), (&json!(3), &json!(1)));
    assert_eq!((&execute["last_task"], &execute["last_commit"]), (&json!("Task 1"), &json!("a".repeat(40))));
    run.wait(2);
    run.todo(&[("Task 1", "completed"), ("Task 2", "completed"), ("Task 3", "completed")]);
    run.end(&passed());
    let execute = run.checkpoint("EXECUTE");
    assert_eq!((&execute["tasks_total"], &execute["tasks_completed"]), (&json!(3), &json!(3)));
    assert_eq!(execute["last_task"], "Task 3");
    assert_eq!(execute["commits"], json!([{ "sha": "a".repeat(40), "task": "Task 1" }]));
    assert_eq!(execute["progress"]["current_task"], Value::Null);
}

#[test]
fn fix_keeps_issues() {
    let mut run = Run::new();
    run.start("FIX", true);
    run.wait(1);
    run.todo(&[("Lock leaks", "completed"), ("Test is flaky", "in_progress")]);
    let fix = run.checkpoint("FIX");
    assert_eq!((&fix["issues_total"], &fix["issues_fixed"]), (&json!(2), &json!(1)));
    assert_eq!(fix["current_issue"], "Test is flaky");
    assert_eq!(run.state()["fix_cycle_count"], 1);
    run.end(&End::Passed { notes: "two fixed".into() });
    assert_eq!(run.checkpoint("FIX")["notes"], "two fixed");
    assert_eq!(run.checkpoint("FIX")["current_issue"], Value::Null);
}

#[test]
fn fix_cycles_go_up_once_a_visit() {
    let mut run = Run::new();
    for (first, count) in [(true, 1), (false, 1), (false, 1), (true, 2), (true, 3)] {
        run.start("FIX", first);
        assert_eq!(run.state()["fix_cycle_count"], count);
        run.end(&End::Failed { why: "no".into() });
    }
}

#[test]
fn failed_stays_failed_and_the_fourth_fix_is_past_the_limit() {
    let mut run = Run::new();
    for _ in 0..3 {
        assert!(!run.record.next_fix().past());
        run.start("EXECUTE", false);
        run.end(&End::Failed { why: "tests fail".into() });
        assert_eq!(run.checkpoint("EXECUTE")["status"], "FAILED");
        assert_eq!(run.checkpoint("EXECUTE")["notes"], "ERROR: tests fail");
        run.start("FIX", true);
        run.end(&End::Failed { why: "still".into() });
    }
    assert!(run.record.next_fix().past());
    run.start("FIX", true);
    run.end(&End::Blocked { why: "fix cycle 4 of at most 3".into() });
    assert_eq!(run.checkpoint("FIX")["status"], "BLOCKED");
    assert_eq!(run.state()["step_status"], "BLOCKED");
}

#[test]
fn seven_unwritten_steps_are_all_kept() {
    let mut tracker = Tracker::default();
    let record = Record::minimal(None, noon());
    for number in 0..7 {
        let start = Start { key: format!("S{number}"), agent: "x".into(), first: true, ..Start::default() };
        tracker.started(start, Some(&record), noon());
        tracker.ended(&passed(), noon()).unwrap();
    }
    let mut record = record;
    tracker.apply(&mut record, noon());
    assert_eq!(record.checkpoints().count(), 7);
    assert!(record.checkpoints().all(|(_, view)| view.status_text() == Some("PASSED")));
    assert_eq!(record.current_step(), Some("S6"));
}

#[test]
fn an_interrupted_step_stays_in_progress_with_its_last_task() {
    let mut run = Run::new();
    run.start("EXECUTE", true);
    run.now += TimeDelta::milliseconds(100);
    run.todo(&[("Task 1", "completed"), ("Task 2", "in_progress")]);
    assert_eq!(run.checkpoint("EXECUTE").get("last_task"), None, "not yet: a second has not passed");
    run.tracker.interrupted();
    run.settle();
    assert_eq!(run.checkpoint("EXECUTE")["status"], "IN_PROGRESS");
    assert_eq!(run.record.interrupted_at(), Some("Task 1"));

    // A continuation forgets nothing.
    let mut run = Run { now: run.now + TimeDelta::hours(2), tracker: Tracker::default(), ..run };
    run.start("EXECUTE", false);
    let execute = run.checkpoint("EXECUTE");
    assert_eq!(execute["started_at"], "2026-02-13T12:00:00Z");
    assert_eq!((&execute["last_task"], &execute["tasks_total"]), (&json!("Task 1"), &json!(2)));
    assert_eq!(execute["last_commit"], "a".repeat(40));
}

#[test]
fn a_new_visit_clears_our_fields_but_not_foreign_ones() {
    let mut run = Run::new();
    run.start("EXECUTE", true);
    run.wait(1);
    run.todo(&[("Task 1", "completed")]);
    run.end(&End::Failed { why: "x".into() });
    run.record.checkpoint_mut("EXECUTE").insert("plan_version".into(), json!(2));
    run.wait(1);
    run.start("EXECUTE", true);
    assert_eq!(
        *run.checkpoint("EXECUTE"),
        json!({
            "status": "IN_PROGRESS", "started_at": "2026-02-13T12:00:02Z", "completed_at": null,
            "agent": "agent of EXECUTE", "output_files": [], "notes": "",
            "last_updated": "2026-02-13T12:00:02Z", "plan_version": 2
        })
    );
    assert_eq!(run.record.interrupted_at(), None);
}

#[test]
fn prepared_fields_of_a_step_are_kept() {
    let text = json!({ "loop_state": { "checkpoints": {
        "EXECUTE": { "status": "NOT_STARTED", "tasks_total": 35, "mode": "parallel" } } } });
    let mut run = Run::on(Record::parse(&text.to_string()).unwrap());
    run.start("EXECUTE", true);
    assert_eq!(run.checkpoint("EXECUTE")["tasks_total"], 35);
    assert_eq!(run.checkpoint("EXECUTE")["mode"], "parallel");
    assert_eq!(run.checkpoint("EXECUTE")["status"], "IN_PROGRESS");
}

#[test]
fn an_agent_that_writes_its_own_progress_is_not_overwritten() {
    let mut run = Run::new();
    run.start("EXECUTE", true);
    run.wait(1);
    run.todo(&[("a", "in_progress"), ("b", "pending")]);
    let theirs = run.record.checkpoint_mut("EXECUTE");
    theirs.insert("tasks_completed".into(), json!(7));
    theirs.insert("tasks_total".into(), json!(12));
    theirs.insert("output_files".into(), json!(["theirs.rs"]));
    theirs.insert("commits".into(), json!([{ "sha": "abc1234", "message": "feat" }]));
    run.tracker.files(["ours.rs".to_owned()]);
    run.wait(1);
    run.todo(&[("a", "completed"), ("b", "in_progress")]);
    let execute = run.checkpoint("EXECUTE");
    assert_eq!((&execute["tasks_completed"], &execute["tasks_total"]), (&json!(7), &json!(12)));
    assert_eq!(execute["last_task"], "a", "what it does not keep is ours");
    assert_eq!(execute["output_files"], json!(["theirs.rs", "ours.rs"]));
    assert_eq!(execute["commits"], json!([{ "sha": "abc1234", "message": "feat" }]));
}

#[test]
fn an_agents_own_end_keeps_its_notes_and_the_tracks_step() {
    let mut run = Run::new();
    run.start("PLAN", true);
    run.wait(5);
    let theirs = run.record.checkpoint_mut("PLAN");
    theirs.insert("status".into(), json!("PASSED"));
    theirs.insert("completed_at".into(), json!("2026-02-13T12:00:04Z"));
    theirs.insert("notes".into(), json!("Plan with 5 phases, 35 tasks"));
    run.record.set_current_step("EVALUATE_PLAN", run.now);
    run.todo(&[("a", "completed")]);
    assert_eq!(run.checkpoint("PLAN")["status"], "PASSED", "progress does not take it back");
    run.end(&passed());
    let plan = run.checkpoint("PLAN");
    assert_eq!(plan["notes"], "Plan with 5 phases, 35 tasks");
    assert_eq!(plan["completed_at"], "2026-02-13T12:00:04Z");
    assert_eq!(run.state()["current_step"], "EVALUATE_PLAN");
    assert_eq!(run.state()["step_status"], "IN_PROGRESS");
}

#[test]
fn evidence_overrules_an_agents_claim() {
    let mut run = Run::new();
    run.start("PLAN", true);
    run.wait(5);
    let theirs = run.record.checkpoint_mut("PLAN");
    theirs.insert("status".into(), json!("PASSED"));
    theirs.insert("notes".into(), json!("done!"));
    run.end(&End::Failed { why: "no file matches \"docs/plan.md\"".into() });
    assert_eq!(run.checkpoint("PLAN")["status"], "FAILED");
    assert_eq!(run.checkpoint("PLAN")["notes"], "ERROR: no file matches \"docs/plan.md\"");
}

#[test]
fn a_start_written_late_does_not_move_a_track_back() {
    let mut run = Run::new();
    let start = Start { key: "PLAN".into(), agent: "x".into(), first: true, ..Start::default() };
    run.tracker.started(start, Some(&run.record), run.now);
    // The lock is held; the agent writes without one.
    run.record.set_current_step("EVALUATE_PLAN", run.now);
    run.wait(30);
    assert_eq!(run.state()["current_step"], "EVALUATE_PLAN");
    assert_eq!(run.checkpoint("PLAN")["status"], "IN_PROGRESS");
}

#[test]
fn an_end_without_a_start_and_a_second_end_are_refused() {
    let mut tracker = Tracker::default();
    let error = tracker.ended(&passed(), noon()).unwrap_err();
    assert!(
        error.to_string().contains("\"NOT_STARTED\" cannot become \"PASSED\"; it can become \"IN_PROGRESS\"")
    );
    let mut run = Run::new();
    run.start("PLAN", true);
    run.end(&passed());
    assert!(run.tracker.ended(&End::Failed { why: "late".into() }, run.now).is_err());
    assert_eq!(run.checkpoint("PLAN")["status"], "PASSED");
}

#[test]
fn an_outcome_is_an_end_if_nothing_follows_automatically() {
    let why = || "w".to_owned();
    let of = |outcome: &Outcome, last| End::of(outcome, "m", last);
    assert_eq!(of(&Outcome::Passed, false), Some(End::Passed { notes: "m".into() }));
    assert_eq!(of(&Outcome::Failed { why: why() }, false), None);
    assert_eq!(of(&Outcome::Failed { why: why() }, true), Some(End::Failed { why: why() }));
    assert_eq!(of(&Outcome::Transient { why: why() }, true), Some(End::Failed { why: why() }));
    assert_eq!(of(&Outcome::Limited { why: why(), until: None }, true), None);
    assert_eq!(of(&Outcome::VerdictFail { why: why() }, false), Some(End::Failed { why: why() }));
    for outcome in [
        Outcome::Blocked { why: why() },
        Outcome::Auth { why: why() },
        Outcome::NeedsHuman { question: why() },
    ] {
        assert_eq!(of(&outcome, false), Some(End::Blocked { why: why() }));
    }
    assert_eq!(summary("\n\nFirst\nline.\n\nSecond."), "First line.");
}

#[test]
fn rewritten_and_cleared_lists_are_counted_correctly() {
    let mut figures = figures::Figures::default();
    assert!(figures.take(&list(&[("a", "completed"), ("b", "pending")])));
    assert!(!figures.take(&list(&[("a", "completed"), ("b", "in_progress")])));
    assert_eq!((figures.done, figures.total, figures.last.as_deref()), (1, Some(2), Some("a")));
    // Rewritten: the new list counts, the last task stays known.
    assert!(!figures.take(&list(&[("c", "pending"), ("d", "in_progress"), ("e", "pending")])));
    assert_eq!((figures.done, figures.total, figures.last.as_deref()), (0, Some(3), Some("a")));
    assert!(figures.take(&list(&[("c", "completed"), ("d", "completed"), ("e", "completed")])));
    // Cleared: the progress does not change.
    assert!(!figures.take(&[]));
    assert_eq!((figures.done, figures.total, figures.last.as_deref()), (3, Some(3), Some("e")));
    // A new list after a finished one is added to it.
    assert!(!figures.take(&list(&[("f", "in_progress")])));
    assert_eq!((figures.done, figures.total), (3, Some(4)));
}

#[test]
fn boxes_of_a_plan_are_counted() {
    let plan =
        "# Plan\n- [x] one\n  - [ ] detail\n- [ ] two\n```\n- [ ] code\n```\n* [X] three\n- [link](x)\n";
    assert_eq!(figures::boxes(plan), Some((2, 3)));
    assert_eq!(figures::boxes("1. list\n   - [ ] a\n   - [x] b\n"), Some((1, 2)));
    assert_eq!(figures::boxes("no boxes"), None);
}

#[test]
fn skills_of_the_protocol_get_their_parameters() {
    let root = tempfile::tempdir().unwrap();
    let place = Place::of_track(root.path(), "auth_20260213").unwrap();
    let inputs =
        [("plan", "docs/it's.md"), ("context_files", "a.md,b.md"), ("epic", "x"), ("mode", "parallel")];
    assert_eq!(
        parameters("superpowers:executing-plans", inputs, &place, "run-1", Some("Task 2.3")).unwrap(),
        "--context-files='a.md,b.md' --plan='docs/it'\\''s.md' --mode='parallel' --track-id='auth_20260213' \
         --track-dir='conductor/tracks/auth_20260213/' \
         --metadata='conductor/tracks/auth_20260213/metadata.json' --resume-from='Task 2.3'"
    );
    let place = Place::of_run(root.path(), &root.path().join(".claude/state/runs/r1"));
    assert_eq!(
        parameters("writing-plans", [("spec", "s.md")], &place, "r1", Some("ignored")).unwrap(),
        "--spec='s.md' --track-id='r1' --track-dir='.claude/state/runs/r1/' \
         --metadata='.claude/state/runs/r1/metadata.json'"
    );
    assert_eq!(parameters("ux-writing", [("spec", "s.md")], &place, "r1", None), None);
}

/// The work of an attempt with an unwritten checkpoint is not forgotten when the next attempt begins.
#[test]
fn the_next_attempt_continues_from_unwritten_progress() {
    let mut tracker = Tracker::default();
    let start = |first| Start { key: "EXECUTE".into(), agent: "x".into(), first, ..Start::default() };
    tracker.started(start(true), None, noon());
    tracker.head("aaa", false);
    tracker.todo(&list(&[("one", "completed"), ("two", "in_progress")]));
    tracker.head("bbb", true);
    tracker.started(start(false), None, noon() + TimeDelta::seconds(9));
    let mut record = Record::minimal(None, noon());
    tracker.apply(&mut record, noon() + TimeDelta::seconds(10));
    let fields = record.checkpoint("EXECUTE").unwrap().fields();
    let told =
        ["tasks_completed", "tasks_total", "last_task", "last_commit"].map(|name| fields[name].clone());
    assert_eq!(told, [json!(1), json!(2), json!("one"), json!("bbb")]);
    assert_eq!(fields["commits"].as_array().map(Vec::len), Some(1));
}
