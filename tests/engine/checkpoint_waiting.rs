//! A checkpoint that cannot be written is shown, retried without a drive, at the next start and at the end of the
//! process, and never lost.

use crate::project_review::repo;
use crate::world::World;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

const TRACK: &str = "conductor/tracks/t/metadata.json";
const INPUTS: &str = "inputs:\n  - {name: track_id, default: t}\n";

/// A script's lock of the track, of this age.
fn lock(world: &World, age: Duration) -> PathBuf {
    let lock = world.path("conductor/tracks/t/.metadata.lock");
    fs::create_dir_all(&lock).unwrap();
    File::open(&lock).unwrap().set_modified(SystemTime::now() - age).unwrap();
    lock
}

const HOURS: Duration = Duration::from_secs(2 * 3600);

fn world() -> World {
    let world = World::new();
    world.declare(
        "two",
        &format!("{INPUTS}stages:\n  - {{agent: a}}\n  - {{gate: human-approval}}\n  - {{agent: b}}\n"),
    );
    world.declare("one", &format!("{INPUTS}stages:\n  - {{agent: a}}\n"));
    world.declare("other", "stages:\n  - {agent: z}\n");
    world
}

fn status_of(world: &World, key: &str) -> Value {
    let document: Value = serde_json::from_str(&world.read(TRACK)).unwrap_or_default();
    document["loop_state"]["checkpoints"][key]["status"].clone()
}

fn waits(picture: &Value) -> &str {
    picture["checkpoint_waiting"].as_str().unwrap_or_default()
}

/// The message has the lock, its holder, its age, and the command to remove it.
fn tells_all(text: &str, lock: &std::path::Path) {
    let lock = lock.display();
    let wanted = format!(
        "\"{lock}\" has been held by an unnamed script for 2h 0m; if that no longer runs, remove the lock with: rm -r '{lock}'"
    );
    assert!(text.contains(&wanted), "{text}");
}

#[test]
fn it_is_shown_at_a_gate_and_written_once_the_lock_is_released() {
    let world = world();
    let lock = lock(&world, HOURS);
    world.run("two", json!({}));
    world.settled();
    let picture = world.until("it to be shown", |picture| !waits(picture).is_empty());
    tells_all(waits(&picture), &lock);
    let said = |event: &Value| event["type"] == "notice" && event["level"] == "warn";
    let said: Vec<_> = world.events().into_iter().filter(said).collect();
    assert_eq!(said.len(), 1, "{said:?}");
    let message = said[0]["message"].as_str().unwrap();
    assert!(message.starts_with(&format!("\"{TRACK}\" is not written yet: ")), "{message}");
    tells_all(message, &lock);
    fs::remove_dir(&lock).unwrap();
    world.until("it to be written while the run waits", |_| status_of(&world, "A") == "PASSED");
    let picture = world.until("that to be shown", |picture| waits(picture).is_empty());
    assert_eq!((&picture["state"], &picture["reason"]), (&json!("paused"), &json!("gate")));
    let mut shown = Value::Null;
    world.until("the editor to be shown it", |_| {
        let newest = world.events().into_iter().rfind(|event| event["type"] == "snapshot");
        shown = newest.map_or(shown.take(), |event| event["run"].clone());
        shown["state"] == "paused" && shown["checkpoint_waiting"].is_null()
    });
    assert_eq!(shown["stages"].as_array().map(Vec::len), Some(3), "the whole picture");
    world.ok("decide", json!({ "decision": "approve" }));
    world.settled();
    world.until("the rest", |_| status_of(&world, "B") == "PASSED");
}

#[test]
fn the_next_process_writes_what_an_ended_one_has_left() {
    let mut world = world();
    let lock = lock(&world, HOURS);
    let run_id = world.run("one", json!({}));
    assert_eq!(world.settled()["state"], "complete", "it never fails a run");
    let stopped = world.ok("stop", json!({ "grace_ms": 200 }));
    let unwritten = stopped["unwritten"].as_array().unwrap();
    assert_eq!(unwritten.len(), 1, "{stopped}");
    let said = unwritten[0].as_str().unwrap();
    assert!(said.starts_with(&format!("one: \"{TRACK}\" will be written at the next start: ")), "{said}");
    tells_all(said, &lock);
    let mark = world.path(&format!(".claude/state/runs/{run_id}/checkpoint-waits"));
    assert!(mark.exists());
    world.restart();
    // The next editor shows it together with the run, and writes it without driving anything.
    world.until("it to be shown", |picture| waits(picture).contains("remove the lock with"));
    fs::remove_dir(&lock).unwrap();
    world.until("it to be written", |_| status_of(&world, "A") == "PASSED");
    world.until("the mark to go", |_| !mark.exists());
    assert!(waits(&world.status()).is_empty());
    assert_eq!(world.ok("stop", json!({ "grace_ms": 200 }))["unwritten"], json!([]));
    let document: Value = serde_json::from_str(&world.read(TRACK)).unwrap();
    let state = &document["loop_state"];
    assert_eq!((&state["current_step"], &state["step_status"]), (&json!("A"), &json!("PASSED")));
}

#[test]
fn another_run_and_a_refused_resume_write_what_is_waiting() {
    for verb in ["run", "resume", "resume of a damaged run"] {
        let mut world = world();
        let lock = lock(&world, HOURS);
        let run_id = world.run("one", json!({}));
        world.settled();
        world.restart();
        fs::remove_dir(&lock).unwrap();
        if verb == "run" {
            world.run("other", json!({}));
        } else if verb == "resume" {
            world.refused("resume", json!({}), "finished");
        } else {
            // This is refused before the verb is handled.
            fs::remove_file(world.newest_seal(&run_id)).unwrap();
            world.refused("resume", json!({}), "damaged-journal");
        }
        let end = std::time::Instant::now() + Duration::from_secs(20);
        while status_of(&world, "A") != "PASSED" {
            assert!(std::time::Instant::now() < end, "never written after {verb}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

#[test]
fn writing_is_tried_once_more_before_a_process_ends() {
    let world = world();
    let lock = lock(&world, HOURS);
    world.run("one", json!({}));
    world.settled();
    fs::remove_dir(&lock).unwrap();
    assert_eq!(world.ok("stop", json!({ "grace_ms": 200 }))["unwritten"], json!([]));
    assert_eq!(status_of(&world, "A"), "PASSED");
}

#[test]
fn a_fresh_lock_is_waited_for_and_its_removal_not_suggested() {
    let world = world();
    let lock = lock(&world, Duration::from_secs(1));
    world.run("one", json!({}));
    assert_eq!(world.settled()["state"], "complete");
    let picture = world.until("it to be shown", |picture| !waits(picture).is_empty());
    assert!(waits(&picture).contains("has been held by an unnamed script for "), "{picture:#}");
    assert!(!waits(&picture).contains("rm -r"), "{picture:#}");
    let unwritten = world.ok("stop", json!({ "grace_ms": 200 }))["unwritten"].clone();
    assert!(unwritten[0].as_str().unwrap().contains(&lock.display().to_string()), "{unwritten}");
    assert!(lock.exists());
}

/// The next drive of the run has everything that the previous one could not write, including what no journal
/// contains.
#[test]
fn the_next_drive_continues_from_what_is_waiting() {
    let world = world();
    world.declare(
        "execute",
        &format!(
            "{INPUTS}stages:\n  - {{agent: loop-executor, inputs: {{plan: plan.md}}}}\n  - {{gate: human-approval}}\n  - {{agent: b}}\n"
        ),
    );
    world.write("plan.md", "- [ ] first\n- [ ] second\n");
    world.hook("sed -i 's/\\[ \\]/[x]/' plan.md; echo done");
    let lock = lock(&world, HOURS);
    world.run("execute", json!({}));
    world.settled();
    world.write("plan.md", "");
    world.look();
    world.ok("decide", json!({ "decision": "approve" }));
    assert_eq!(world.settled()["state"], "complete");
    fs::remove_dir(&lock).unwrap();
    world.until("all of it", |_| status_of(&world, "B") == "PASSED");
    let document: Value = serde_json::from_str(&world.read(TRACK)).unwrap();
    let execute = &document["loop_state"]["checkpoints"]["EXECUTE"];
    assert_eq!(execute["status"], "PASSED", "{execute:#}");
    assert_eq!((&execute["tasks_completed"], &execute["last_task"]), (&json!(2), &json!("second")));
}

const EXECUTE: &str =
    "stages:\n  - {agent: loop-executor, inputs: {plan: plan.md}}\n  - {gate: human-approval}\n";

/// A run at its gate, after an `EXECUTE` that has ticked both boxes and whose checkpoint is not written.
fn executed_behind_a_lock() -> (World, PathBuf, PathBuf) {
    let mut world = world();
    world.declare("execute", &format!("{INPUTS}{EXECUTE}"));
    world.write("plan.md", "- [ ] first\n- [ ] second\n");
    world.hook("sed -i 's/\\[ \\]/[x]/' plan.md; echo made > made.txt; echo done");
    repo(&world.root());
    let lock = lock(&world, HOURS);
    let run_id = world.run("execute", json!({}));
    world.settled();
    assert_eq!(world.ok("stop", json!({ "grace_ms": 200 }))["unwritten"].as_array().map(Vec::len), Some(1));
    let mark = world.path(&format!(".claude/state/runs/{run_id}/checkpoint-waits"));
    world.restart();
    (world, lock, mark)
}

fn execute(world: &World) -> Value {
    world.until("it to be written", |_| status_of(world, "EXECUTE") == "PASSED");
    let document: Value = serde_json::from_str(&world.read(TRACK)).unwrap();
    document["loop_state"]["checkpoints"]["EXECUTE"].clone()
}

/// A later process also has the progress and the attempt's files, which no journal contains.
#[test]
fn a_later_process_writes_everything_an_earlier_one_knew() {
    for verb in ["look", "approve"] {
        let (world, lock, _) = executed_behind_a_lock();
        world.write("plan.md", "");
        if verb == "approve" {
            world.look();
            world.ok("decide", json!({ "decision": "approve" }));
            assert_eq!(world.settled()["state"], "complete");
        } else {
            world.status();
        }
        fs::remove_dir(&lock).unwrap();
        let execute = execute(&world);
        assert_eq!(
            (&execute["tasks_completed"], &execute["tasks_total"], &execute["last_task"]),
            (&json!(2), &json!(2), &json!("second")),
            "{verb}: {execute:#}"
        );
        let files = execute["output_files"].as_array().unwrap();
        assert!(files.contains(&json!("made.txt")), "{verb}: {execute:#}");
    }
}

/// A file of an older version is empty, and a damaged one is ignored; the journal and the plan provide the rest.
#[test]
fn boxes_are_counted_again_without_saved_progress() {
    for kept in ["", "{\"steps\": [{\"key\": 7}, null]}", "[", "{\"steps\": 1}"] {
        let (world, lock, mark) = executed_behind_a_lock();
        fs::write(&mark, kept).unwrap();
        world.status();
        fs::remove_dir(&lock).unwrap();
        let execute = execute(&world);
        let counted = (&execute["tasks_completed"], &execute["tasks_total"]);
        assert_eq!(counted, (&json!(2), &json!(2)), "{kept:?}: {execute:#}");
        world.until("the file to go", |_| !mark.exists());
    }
}

/// An attempt that was killed with its process: the step stays in progress, up to date to the last task.
#[test]
fn an_interrupted_step_is_written_with_its_progress() {
    let mut world = world();
    world.declare("execute", &format!("{INPUTS}{EXECUTE}"));
    world.write("plan.md", "- [ ] first\n- [ ] second\n");
    world.hook("sed -i 's/\\[ \\] first/[x] first/' plan.md; touch ticked; exec sleep 60");
    let lock = lock(&world, HOURS);
    let run_id = world.run("execute", json!({}));
    let mark = world.path(&format!(".claude/state/runs/{run_id}/checkpoint-waits"));
    world.until("the tick to be kept", |_| {
        fs::read_to_string(&mark).is_ok_and(|text| text.contains("\"last\":\"first\""))
    });
    world.restart();
    world.write("plan.md", "");
    world.status();
    fs::remove_dir(&lock).unwrap();
    world.until("it to be written", |_| status_of(&world, "EXECUTE") == "IN_PROGRESS");
    let document: Value = serde_json::from_str(&world.read(TRACK)).unwrap();
    let execute = &document["loop_state"]["checkpoints"]["EXECUTE"];
    assert_eq!(
        (&execute["tasks_completed"], &execute["last_task"]),
        (&json!(1), &json!("first")),
        "{execute:#}"
    );
}

/// A visit of `FIX` that could not be counted is counted by the process that writes it.
#[test]
fn a_later_process_counts_a_waiting_fix_cycle() {
    let mut world = world();
    world.declare(
        "fix",
        &format!("{INPUTS}stages:\n  - {{agent: loop-fixer}}\n  - {{gate: human-approval}}\n"),
    );
    let lock = lock(&world, HOURS);
    world.run("fix", json!({}));
    world.settled();
    world.ok("stop", json!({ "grace_ms": 200 }));
    world.restart();
    world.status();
    fs::remove_dir(&lock).unwrap();
    world.until("it to be written", |_| status_of(&world, "FIX") == "PASSED");
    let document: Value = serde_json::from_str(&world.read(TRACK)).unwrap();
    assert_eq!(document["loop_state"]["fix_cycle_count"], 1);
}

/// What another process has since written about a step takes precedence.
#[test]
fn steps_that_others_have_begun_since_are_not_overwritten() {
    let world = world();
    world.hook("exit 1");
    world.declare("fails", &format!("{INPUTS}stages:\n  - {{agent: a, max_attempts: 1}}\n"));
    let lock = lock(&world, HOURS);
    world.run("fails", json!({}));
    assert_eq!(world.settled()["reason"], "failed");
    let later = chrono::Utc::now() + chrono::TimeDelta::seconds(60);
    let theirs = json!({ "loop_state": { "current_step": "A", "step_status": "IN_PROGRESS", "checkpoints": {
        "A": { "status": "IN_PROGRESS", "last_updated": later.to_rfc3339() } } } });
    world.write(TRACK, &theirs.to_string());
    fs::remove_dir(&lock).unwrap();
    world.until("it to be settled", |picture| waits(picture).is_empty());
    assert_eq!(status_of(&world, "A"), "IN_PROGRESS");
}

/// A run from a clone must not write to the tracks here, even if it is marked as having unwritten steps.
#[test]
fn a_foreign_run_writes_nothing() {
    let mut world = world();
    let run_id = world.run("one", json!({}));
    world.settled();
    let dir = format!(".claude/state/runs/{run_id}");
    fs::remove_file(world.path(TRACK)).unwrap();
    world.restart();
    // The format of its header has no seals, so we cannot know who wrote it.
    let journal = world.read(&format!("{dir}/journal.jsonl"));
    let (_, records) = journal.split_once('\n').unwrap();
    world.write(&format!("{dir}/journal.jsonl"), &format!("{{\"format\":1}}\n{records}"));
    world.write(&format!("{dir}/checkpoint-waits"), "");
    world.status();
    world.run("other", json!({}));
    world.settled();
    assert_eq!(world.ok("stop", json!({ "grace_ms": 200 }))["unwritten"], json!([]));
    assert!(!world.path(TRACK).exists(), "{}", world.read(TRACK));
}
