//! The handle and its thread: what is on disk, and what is reported.

use crate::checkpoint_record::noon;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use superpower::checkpoint::head::head;
use superpower::checkpoint::lock::LOCK;
use superpower::checkpoint::owner::{Owner, RECORD};
use superpower::checkpoint::store::Store;
use superpower::checkpoint::{Checkpoints, End, NoTrack, Past, Place, Report, Start, State, planned};
use superpower::harness::TodoItem;

const SECOND: Duration = Duration::from_secs(1);
const GRACE: Duration = Duration::from_secs(10);

struct Project {
    dir: tempfile::TempDir,
    reports: Arc<Mutex<Vec<Report>>>,
}

impl Project {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), reports: Arc::default() }
    }

    fn root(&self) -> &Path {
        self.dir.path()
    }

    fn track(&self) -> Place {
        Place::of_track(self.root(), "auth").unwrap()
    }

    fn open(&self) -> Checkpoints {
        let reports = Arc::clone(&self.reports);
        Checkpoints::open(self.track(), move |report| reports.lock().unwrap().push(report))
    }

    fn reports(&self) -> Vec<Report> {
        self.reports.lock().unwrap().clone()
    }

    fn write(&self, text: &str) {
        self.track().make().unwrap();
        fs::write(self.track().document(), text).unwrap();
    }

    fn state(&self) -> Value {
        let text = fs::read_to_string(self.track().document()).unwrap();
        serde_json::from_str::<Value>(&text).unwrap()["loop_state"].take()
    }

    fn checkpoint(&self, key: &str) -> Value {
        self.state()["checkpoints"][key].take()
    }
}

fn start(key: &str) -> Start {
    Start { key: key.into(), agent: "a".into(), first: true, ..Start::default() }
}

fn passed() -> End {
    End::Passed { notes: "done".into() }
}

fn now() -> chrono::DateTime<chrono::Utc> {
    chrono::Utc::now()
}

fn todo(items: &[(&str, &str)]) -> Vec<TodoItem> {
    items.iter().map(|(text, status)| TodoItem { text: (*text).into(), status: (*status).into() }).collect()
}

/// Waits until `is` returns true; returns how long it took.
fn until(what: &str, mut is: impl FnMut() -> bool) -> Duration {
    let begun = Instant::now();
    while !is() {
        assert!(begun.elapsed() < GRACE, "never: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
    begun.elapsed()
}

#[test]
fn a_missing_track_gets_the_protocols_minimal_document() {
    let project = Project::new();
    let checkpoints = project.open();
    checkpoints.started(start("PLAN"), now()).unwrap();
    assert!(checkpoints.close(GRACE));
    let text = fs::read_to_string(project.root().join("conductor/tracks/auth/metadata.json")).unwrap();
    assert!(text.starts_with("{\n  \"version\": 2,\n  \"track_id\": \"auth\",\n"), "{text}");
    let document: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document.get("status"), None, "how the track as a whole is, is for whoever leads it");
    let state = project.state();
    let names: Vec<_> = state.as_object().unwrap().keys().collect();
    assert_eq!(
        names,
        [
            "current_step",
            "step_status",
            "step_started_at",
            "fix_cycle_count",
            "max_fix_cycles",
            "checkpoints"
        ]
    );
    assert_eq!((&state["current_step"], &state["step_status"]), (&json!("PLAN"), &json!("IN_PROGRESS")));
    assert_eq!((&state["fix_cycle_count"], &state["max_fix_cycles"]), (&json!(0), &json!(3)));
}

#[test]
fn a_held_lock_never_delays_a_run() {
    let project = Project::new();
    project.track().make().unwrap();
    let lock = project.track().dir().join(LOCK);
    fs::create_dir(&lock).unwrap();
    let checkpoints = project.open();
    let begun = Instant::now();
    checkpoints.started(start("EXECUTE"), now()).unwrap();
    for number in 0..1000 {
        checkpoints.todo(todo(&[("one", "completed"), (&format!("two {number}"), "in_progress")]));
    }
    checkpoints.ended(passed(), now());
    checkpoints.started(start("EVALUATE_EXECUTION"), now()).unwrap();
    assert!(begun.elapsed() < SECOND, "the run waited {:?}", begun.elapsed());
    until("it says that it waits", || matches!(checkpoints.state(), State::Waiting(_)));
    let State::Waiting(why) = checkpoints.state() else { unreachable!() };
    assert!(why.contains("has been held by an unnamed script"), "{why}");
    assert!(!checkpoints.flush(SECOND / 2), "nothing was written");
    assert!(!project.track().document().exists());

    fs::remove_dir(&lock).unwrap();
    assert!(until("it is written", || checkpoints.state() == State::Written) < SECOND);
    assert_eq!(project.checkpoint("EXECUTE")["status"], "PASSED");
    assert_eq!(project.checkpoint("EXECUTE")["last_task"], "one");
    assert_eq!(project.checkpoint("EVALUATE_EXECUTION")["status"], "IN_PROGRESS");
    assert_eq!(project.state()["current_step"], "EVALUATE_EXECUTION");
    let begun = Instant::now();
    fs::create_dir(&lock).unwrap();
    checkpoints.ended(passed(), now());
    assert!(!checkpoints.close(SECOND / 2));
    assert!(begun.elapsed() < SECOND * 2, "closing has its time and no more");
}

#[test]
fn a_failure_is_visible_in_less_than_a_second() {
    let project = Project::new();
    let checkpoints = project.open();
    checkpoints.started(start("PLAN"), now()).unwrap();
    checkpoints.todo(todo(&[("a", "in_progress")]));
    assert!(checkpoints.flush(GRACE));
    checkpoints.todo(todo(&[("a", "completed")]));
    checkpoints.ended(End::Failed { why: "exit status 1".into() }, now());
    let took = until("it is FAILED", || project.checkpoint("PLAN")["status"] == "FAILED");
    assert!(took < SECOND, "{took:?}");
    assert_eq!(project.checkpoint("PLAN")["notes"], "ERROR: exit status 1");
    assert_eq!(checkpoints.rows()[0].status, "FAILED");
}

#[test]
fn writing_does_not_depend_on_the_runs_clock() {
    let project = Project::new();
    let checkpoints = project.open();
    checkpoints.started(start("PLAN"), now() + chrono::TimeDelta::days(9999)).unwrap();
    until("it is written", || project.track().document().exists());
    until("it is told", || project.reports().contains(&Report::Changed));
    assert_eq!(checkpoints.rows()[0].key, "PLAN");
}

#[test]
fn an_interruption_is_on_disk_before_the_editor_exits() {
    let project = Project::new();
    let checkpoints = project.open();
    checkpoints.started(start("EXECUTE"), now()).unwrap();
    assert!(checkpoints.flush(GRACE));
    checkpoints.todo(todo(&[("Task 1", "completed"), ("Task 2", "in_progress")]));
    checkpoints.interrupted();
    assert!(checkpoints.close(GRACE));
    assert_eq!(project.checkpoint("EXECUTE")["status"], "IN_PROGRESS");
    assert_eq!(project.open().resume_from().as_deref(), Some("Task 1"));
}

#[test]
fn an_unreadable_document_is_moved_aside_and_reported() {
    let project = Project::new();
    let checkpoints = project.open();
    checkpoints.started(start("PLAN"), now()).unwrap();
    checkpoints.ended(passed(), now());
    assert!(checkpoints.flush(GRACE));
    let broken = "{ \"loop_state\": { \"current_st";
    project.write(broken);
    checkpoints.started(start("EXECUTE"), now()).unwrap();
    assert!(checkpoints.flush(GRACE));
    let aside = fs::read_dir(project.track().dir()).unwrap().map(|entry| entry.unwrap().path());
    let aside: Vec<_> =
        aside.filter(|path| path.to_string_lossy().contains("metadata.json.corrupt-")).collect();
    assert_eq!(aside.len(), 1);
    assert_eq!(fs::read_to_string(&aside[0]).unwrap(), broken);
    let told = project.reports().into_iter().find_map(|report| match report {
        Report::Fixed(text) => Some(text),
        _ => None,
    });
    assert!(told.as_ref().is_some_and(|text| text.contains(&aside[0].display().to_string())), "{told:?}");
    assert_eq!(project.checkpoint("PLAN")["status"], "PASSED", "what this run knows is there again");
    assert_eq!(project.checkpoint("EXECUTE")["status"], "IN_PROGRESS");
}

#[test]
fn a_dead_owners_lock_is_broken_and_reported() {
    let project = Project::new();
    project.track().make().unwrap();
    let mut child = Command::new("true").spawn().unwrap();
    let mut owner = Owner::this();
    owner.process.pid = child.id();
    child.wait().unwrap();
    let lock = project.track().dir().join(LOCK);
    fs::create_dir(&lock).unwrap();
    fs::write(lock.join(RECORD), serde_json::to_vec(&owner).unwrap()).unwrap();
    let checkpoints = project.open();
    checkpoints.started(start("PLAN"), now()).unwrap();
    assert!(checkpoints.flush(SECOND));
    let wanted = format!("of process {}, which no longer runs", child.id());
    let told = |report: &Report| matches!(report, Report::Fixed(text) if text.ends_with(&wanted));
    until("it is told", || project.reports().iter().any(told));
}

#[test]
fn a_write_error_is_reported_once_and_retried() {
    let project = Project::new();
    fs::write(project.root().join("conductor"), "a file").unwrap();
    let checkpoints = project.open();
    checkpoints.started(start("PLAN"), now()).unwrap();
    let waiting = |report: &Report| matches!(report, Report::Waiting(_));
    until("it is told", || project.reports().iter().any(waiting));
    std::thread::sleep(Duration::from_millis(2500));
    assert_eq!(project.reports().iter().filter(|report| waiting(report)).count(), 1);
    fs::remove_file(project.root().join("conductor")).unwrap();
    assert!(checkpoints.flush(GRACE));
    until("it is told", || project.reports().contains(&Report::Recovered));
    assert_eq!(project.checkpoint("PLAN")["status"], "IN_PROGRESS");
}

#[test]
fn a_change_by_another_tool_shows_within_a_second() {
    let project = Project::new();
    let checkpoints = project.open();
    checkpoints.started(start("PLAN"), now()).unwrap();
    assert!(checkpoints.flush(GRACE));
    std::thread::sleep(SECOND);
    let before = project.reports().len();
    let text = fs::read_to_string(project.track().document()).unwrap();
    project.write(&text.replace("\"notes\": \"\"", "\"notes\": \"theirs\""));
    let took = until("it shows", || project.reports()[before..].contains(&Report::Changed));
    assert!(took < SECOND, "{took:?}");
    assert_eq!(checkpoints.rows()[0].notes.as_deref(), Some("theirs"));
}

#[test]
fn concurrent_writes_by_an_agent_are_not_lost() {
    let project = Project::new();
    let checkpoints = project.open();
    checkpoints.started(start("EXECUTE"), now()).unwrap();
    assert!(checkpoints.flush(GRACE));
    let place = project.track();
    // As agents write: without the lock, the whole file, in place.
    let agent = std::thread::spawn(move || {
        for number in 1..=60 {
            let Ok(mut document) = serde_json::from_slice::<Value>(&fs::read(place.document()).unwrap())
            else {
                continue;
            };
            let execute = &mut document["loop_state"]["checkpoints"]["EXECUTE"];
            execute["fixes_applied"] = json!(number);
            execute["last_task"] = json!(format!("Theirs {number}"));
            fs::write(place.document(), serde_json::to_vec_pretty(&document).unwrap()).unwrap();
            std::thread::sleep(Duration::from_millis(25));
        }
    });
    for number in 0..20 {
        checkpoints.todo(todo(&[("a", "completed"), (&format!("b {number}"), "in_progress")]));
        std::thread::sleep(Duration::from_millis(80));
    }
    agent.join().unwrap();
    checkpoints.ended(passed(), now());
    assert!(checkpoints.close(GRACE));
    let execute = project.checkpoint("EXECUTE");
    assert_eq!(execute["status"], "PASSED");
    assert_eq!((&execute["fixes_applied"], &execute["last_task"]), (&json!(60), &json!("Theirs 60")));
    assert_eq!((&execute["tasks_completed"], &execute["tasks_total"]), (&json!(1), &json!(2)));
    let mended = project.reports().into_iter().filter(|report| matches!(report, Report::Fixed(_)));
    assert_eq!(mended.count(), 0, "a half-written document is waited for");
}

#[test]
fn a_fix_beyond_the_limit_is_refused_and_written_as_blocked() {
    let project = Project::new();
    project
        .write("{\"loop_state\": {\"fix_cycle_count\": 2, \"fix_cycle_begun\": 2, \"max_fix_cycles\": 2}}");
    let checkpoints = project.open();
    let refused = checkpoints.started(start("FIX"), now()).unwrap_err().to_string();
    assert_eq!(
        refused,
        "fix cycle 3 of at most 2: raise \"max_fix_cycles\" in \"conductor/tracks/auth/metadata.json\", or fix it manually"
    );
    assert!(checkpoints.flush(GRACE));
    assert_eq!(project.checkpoint("FIX")["status"], "BLOCKED");
    assert_eq!(project.state()["step_status"], "BLOCKED");
    // A user's retry belongs to the same visit.
    checkpoints.started(Start { first: false, ..start("FIX") }, now()).unwrap();
    assert!(checkpoints.close(GRACE));
    assert_eq!(project.checkpoint("FIX")["status"], "IN_PROGRESS");
    assert_eq!(project.state()["fix_cycle_count"], 3);
}

#[test]
fn unwritten_steps_of_an_earlier_process_come_from_the_journal() {
    let project = Project::new();
    project.write(
        r#"{"loop_state": {"current_step": "DOCS", "step_status": "NOT_STARTED", "checkpoints": {
            "PLAN": {"status": "IN_PROGRESS", "last_updated": "2026-02-13T12:00:00Z", "mine": 1},
            "LATER": {"status": "IN_PROGRESS", "last_updated": "2026-02-13T15:00:00Z"},
            "ENDED": {"status": "FAILED", "notes": "ERROR: as it was", "last_updated": "2026-02-13T12:00:00Z"}
        }}}"#,
    );
    let past = |key: &str| Past {
        key: key.into(),
        agent: "a".into(),
        earlier: Vec::new(),
        started_at: noon(),
        end: passed(),
        ended_at: noon() + chrono::TimeDelta::hours(1),
        plan: None,
    };
    let checkpoints = project.open();
    checkpoints.restored(["PLAN", "LATER", "ENDED", "NEVER"].map(past).into());
    checkpoints.started(start("DOCS"), now()).unwrap();
    assert!(checkpoints.close(GRACE));
    let plan = project.checkpoint("PLAN");
    assert_eq!((&plan["status"], &plan["completed_at"]), (&json!("PASSED"), &json!("2026-02-13T13:00:00Z")));
    assert_eq!(plan["mine"], 1);
    assert_eq!(project.checkpoint("LATER")["status"], "IN_PROGRESS", "somebody has gone on with it");
    assert_eq!(project.checkpoint("ENDED")["status"], "FAILED");
    assert_eq!(project.checkpoint("NEVER")["status"], "PASSED");
    assert_eq!(project.state()["current_step"], "DOCS");
}

#[test]
fn plan_boxes_give_the_total_of_tasks() {
    let project = Project::new();
    let root = project.root();
    fs::write(root.join("plan.md"), "- [ ] a\n- [x] b\n").unwrap();
    assert_eq!(planned(root, "EXECUTE", [("spec", "s"), ("plan", "plan.md")]), Some(2));
    assert_eq!(planned(root, "FIX", [("failures", "plan.md")]), Some(2));
    assert_eq!(planned(root, "PLAN", [("plan", "plan.md")]), None);
    let outside = tempfile::NamedTempFile::new().unwrap();
    fs::write(outside.path(), "- [ ] a\n").unwrap();
    assert_eq!(planned(root, "EXECUTE", [("plan", outside.path().to_str().unwrap())]), None);
    assert_eq!(planned(root, "EXECUTE", [("plan", "missing.md")]), None);
}

fn git(dir: &Path, arguments: &[&str]) -> String {
    let out = Command::new("git")
        .current_dir(dir)
        .args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"])
        .args(arguments)
        .stderr(Stdio::null())
        .output()
        .unwrap();
    String::from_utf8(out.stdout).unwrap().trim().to_owned()
}

#[test]
fn git_head_is_read_without_git() {
    let project = Project::new();
    let root = project.root();
    assert_eq!(head(root), None);
    git(root, &["init", "-q"]);
    assert_eq!(head(root), None, "no commit yet");
    git(root, &["commit", "-q", "--allow-empty", "-m", "one"]);
    let one = git(root, &["rev-parse", "HEAD"]);
    assert_eq!(head(root).as_deref(), Some(one.as_str()));
    git(root, &["pack-refs", "--all"]);
    assert_eq!(head(root).as_deref(), Some(one.as_str()), "packed");
    git(root, &["worktree", "add", "-q", "tree"]);
    git(&root.join("tree"), &["commit", "-q", "--allow-empty", "-m", "two"]);
    let two = git(&root.join("tree"), &["rev-parse", "HEAD"]);
    assert_eq!(head(&root.join("tree")), Some(two), "of a work tree");
    git(root, &["checkout", "-q", "--detach"]);
    assert_eq!(head(root), Some(one), "detached");
}

#[test]
fn commits_are_the_heads_after_each_task() {
    let project = Project::new();
    let root = project.root();
    git(root, &["init", "-q"]);
    git(root, &["commit", "-q", "--allow-empty", "-m", "before"]);
    let checkpoints = project.open();
    checkpoints.started(start("EXECUTE"), now()).unwrap();
    assert!(checkpoints.flush(GRACE));
    let mut commits = Vec::new();
    let mut list = vec![("Task 1", "pending"), ("Task 2", "pending"), ("Task 3", "pending")];
    for at in 0..2 {
        git(root, &["commit", "-q", "--allow-empty", "-m", "task"]);
        commits.push(json!({ "sha": git(root, &["rev-parse", "HEAD"]), "task": list[at].0 }));
        list[at].1 = "completed";
        checkpoints.todo(todo(&list));
        assert!(checkpoints.flush(GRACE));
    }
    checkpoints.ended(passed(), now());
    assert!(checkpoints.close(GRACE));
    let execute = project.checkpoint("EXECUTE");
    assert_eq!(execute["commits"], json!(commits));
    assert_eq!(execute["last_commit"], commits[1]["sha"]);
    assert_eq!((&execute["tasks_completed"], &execute["tasks_total"]), (&json!(2), &json!(3)));
}

#[test]
fn a_track_id_cannot_leave_the_project() {
    let project = Project::new();
    let root = project.root();
    for id in ["..", ".", "", "a/b", "../x", "-x", "a b", "a\0b", ".hidden", "é", &"x".repeat(300)] {
        assert_eq!(Place::of_track(root, id), Err(NoTrack::BadId(id.to_owned())), "{id:?}");
    }
    assert!(Place::of_track(root, "user-auth_20260213.v2").is_ok());
    let outside = tempfile::tempdir().unwrap();
    fs::create_dir_all(root.join("conductor/tracks")).unwrap();
    std::os::unix::fs::symlink(outside.path(), root.join("conductor/tracks/out")).unwrap();
    std::os::unix::fs::symlink(outside.path().join("later"), root.join("conductor/tracks/dangling")).unwrap();
    fs::create_dir(root.join("conductor/real")).unwrap();
    std::os::unix::fs::symlink(root.join("conductor/real"), root.join("conductor/tracks/in")).unwrap();
    // A link inside the project is refused too, because it may come from a clone and lead to something else.
    for name in ["out", "dangling", "in"] {
        let link = Path::new("conductor/tracks").join(name);
        let refused = Place::of_track(root, name).unwrap_err();
        assert_eq!(refused, NoTrack::Link(link.clone()), "{name}");
        assert!(refused.to_string().contains(&link.display().to_string()), "{refused}");
    }
}

#[test]
fn a_link_created_later_is_not_followed() {
    let project = Project::new();
    let place = project.track();
    let outside = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(outside.path(), project.root().join("conductor")).unwrap();
    let mut store = Store::new(place);
    let error = store.update(now(), SECOND, |_, _| {}).unwrap_err().to_string();
    assert!(error.contains("/conductor\" is a link; remove it"), "{error}");
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
}

/// A non-file at the document's path neither blocks nor is written through.
#[test]
fn a_non_file_at_the_documents_path_is_reported_at_once() {
    type Plant = (&'static str, fn(&Path));
    let plant: [Plant; 5] = [
        ("is a pipe, not a regular file", |path| {
            let path = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
            // SAFETY: the string ends with a zero.
            assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
        }),
        ("is a link; remove it", |path| std::os::unix::fs::symlink("/dev/zero", path).unwrap()),
        ("is a link; remove it", |path| std::os::unix::fs::symlink("elsewhere.json", path).unwrap()),
        ("is a folder, not a regular file", |path| fs::create_dir(path).unwrap()),
        ("is larger than 16 MiB", |path| fs::File::create(path).unwrap().set_len(1 << 40).unwrap()),
    ];
    for (wanted, plant) in plant {
        let project = Project::new();
        project.track().make().unwrap();
        plant(&project.track().document());
        let mut store = Store::new(project.track());
        let begun = Instant::now();
        let error = store.update(now(), SECOND, |_, _| panic!("there is nothing to change")).unwrap_err();
        assert!(begun.elapsed() < SECOND, "{wanted}: {:?}", begun.elapsed());
        let error = error.to_string();
        assert!(error.contains("metadata.json") && error.contains(wanted), "{error}");
        assert!(store.known().is_none());
        assert!(!project.track().dir().join(LOCK).exists(), "the lock is free again");
    }
}

#[test]
fn an_invalid_owner_record_never_blocks() {
    let project = Project::new();
    project.track().make().unwrap();
    let lock = project.track().dir().join(LOCK);
    fs::create_dir(&lock).unwrap();
    let record = std::ffi::CString::new(lock.join(RECORD).to_str().unwrap()).unwrap();
    // SAFETY: the string ends with a zero.
    assert_eq!(unsafe { libc::mkfifo(record.as_ptr(), 0o600) }, 0);
    let begun = Instant::now();
    assert_eq!(Owner::read(&lock), None);
    assert!(begun.elapsed() < SECOND);
    let other = Project::new();
    other.track().make().unwrap();
    std::os::unix::fs::symlink(&lock, other.track().dir().join(LOCK)).unwrap();
    let error = Store::new(other.track()).update(now(), SECOND / 10, |_, _| {}).unwrap_err().to_string();
    assert!(error.contains("has been held by an unnamed script"), "{error}");
}
