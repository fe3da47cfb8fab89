//! The lock: when it waits, when it is broken, and what it reports.

use crate::child::child;
use crate::counted::count;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime};
use superpower::checkpoint::Place;
use superpower::checkpoint::lock::{LOCK, Lock, LockError, Patience};
use superpower::checkpoint::owner::{Life, Owner, RECORD};
use superpower::checkpoint::record::Record;
use superpower::checkpoint::store::Store;

const SHORT: Duration = Duration::from_millis(150);
const SECOND: Duration = Duration::from_secs(1);

/// A process that does `job` (`hold` or `write`) with the checkpoint in `dir`.
pub fn process(job: &str, dir: &Path) -> Child {
    let mut command = child(&format!("checkpoint-{job}"));
    command.arg(dir).stdout(Stdio::piped()).spawn().unwrap()
}

fn wait_for(child: &mut Child, word: &str) {
    let lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
    assert!(
        lines.map_while(Result::ok).any(|line| line.contains(word)),
        "the process ended without \"{word}\""
    );
}

/// A directory whose lock was held by a process when it was killed. The process is not reaped: a zombie counts as
/// dead.
fn orphaned() -> (tempfile::TempDir, Child) {
    let dir = tempfile::tempdir().unwrap();
    let mut child = process("hold", dir.path());
    wait_for(&mut child, "held");
    child.kill().unwrap();
    // The kill takes a moment.
    let owner = Owner::read(&dir.path().join(LOCK)).unwrap();
    while owner.life() == Life::Alive {
        std::thread::sleep(Duration::from_millis(1));
    }
    (dir, child)
}

/// Makes a directory look an hour old.
fn age(path: &Path) {
    File::open(path).unwrap().set_modified(SystemTime::now() - Duration::from_secs(3600)).unwrap();
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn the_lock_is_a_directory_with_a_record_and_leaves_nothing() {
    for lock in [|dir: &Path| Lock::of(dir), |dir: &Path| Lock::of(dir).without_exclusive_rename()] {
        let dir = tempfile::tempdir().unwrap();
        let held = lock(dir.path()).take(SHORT, &mut Patience::default()).unwrap();
        assert_eq!(names(dir.path()), [LOCK]);
        let owner = Owner::read(&dir.path().join(LOCK)).unwrap();
        assert_eq!(owner.process.pid, std::process::id());
        assert!(!owner.process.boot_id.is_empty());
        assert_eq!(owner.life(), Life::Alive);
        // A script's `mkdir` fails, and so does a `rmdir` by another process.
        assert!(fs::create_dir(dir.path().join(LOCK)).is_err());
        assert!(fs::remove_dir(dir.path().join(LOCK)).is_err());
        drop(held);
        assert!(names(dir.path()).is_empty());
    }
}

#[test]
fn a_scripts_empty_directory_is_never_replaced() {
    for lock in [|dir: &Path| Lock::of(dir), |dir: &Path| Lock::of(dir).without_exclusive_rename()] {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(LOCK)).unwrap();
        assert!(lock(dir.path()).take(SHORT, &mut Patience::default()).is_err());
        assert!(!dir.path().join(LOCK).join(RECORD).exists());
        fs::remove_dir(dir.path().join(LOCK)).unwrap();
        assert!(lock(dir.path()).take(SHORT, &mut Patience::default()).is_ok());
        assert!(names(dir.path()).is_empty());
    }
}

#[test]
fn a_dead_owners_lock_is_broken_and_the_wait_has_a_limit() {
    let (dir, mut child) = orphaned();
    let begun = Instant::now();
    let held = Lock::of(dir.path()).take(SECOND, &mut Patience::default()).unwrap();
    assert!(begun.elapsed() < SECOND, "{:?}", begun.elapsed());
    assert_eq!(held.broken.as_ref().map(|broken| broken.pid), Some(child.id()));

    let begun = Instant::now();
    assert!(Lock::of(dir.path()).take(SHORT, &mut Patience::default()).is_err());
    assert!(begun.elapsed() < SECOND);
    drop(held);
    assert!(names(dir.path()).is_empty());
    child.wait().unwrap();
}

#[test]
fn liveness_decides_and_age_does_not() {
    // The dead owner's lock is new and gets broken; the live owner's is old and stays.
    let (dir, mut child) = orphaned();
    assert!(Lock::of(dir.path()).take(SHORT, &mut Patience::default()).is_ok());
    child.wait().unwrap();
    let mut child = process("hold", dir.path());
    wait_for(&mut child, "held");
    age(&dir.path().join(LOCK));
    let error = Lock::of(dir.path()).take(SHORT, &mut Patience::default()).unwrap_err();
    let text = error.to_string();
    let wanted = format!("has been held by process {} for 1h 0m", child.id());
    assert!(text.starts_with('"') && text.contains(LOCK) && text.ends_with(&wanted), "{text}");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn every_attempt_can_break_a_dead_lock() {
    let (dir, mut child) = orphaned();
    let mut store = Store::new(Place::of_run(dir.path(), dir.path()));
    let found = store.update(chrono::Utc::now(), SECOND, |_, _| {}).unwrap();
    assert_eq!(found.broken.map(|broken| broken.pid), Some(child.id()));
    child.wait().unwrap();
}

#[test]
fn a_live_owners_lock_is_never_broken() {
    let dir = tempfile::tempdir().unwrap();
    let mut child = process("hold", dir.path());
    wait_for(&mut child, "held");
    let mut patience = Patience::default();
    for _ in 0..3 {
        let error = Lock::of(dir.path()).take(SHORT, &mut patience).unwrap_err();
        assert!(matches!(error, LockError::Held { .. }), "{error}");
        patience.grow(Duration::from_secs(24 * 3600));
    }
    assert_eq!(Owner::read(&dir.path().join(LOCK)).unwrap().process.pid, child.id());
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn an_unnamed_lock_is_respected_and_reported_after_a_minute() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(LOCK);
    fs::create_dir(&path).unwrap();
    let lock = Lock::of(dir.path());
    let mut patience = Patience::default();
    let error = lock.take(SHORT, &mut patience).unwrap_err();
    assert!(matches!(error, LockError::Held { .. }), "{error}");
    assert!(error.to_string().contains("has been held by an unnamed script for 0s"), "{error}");
    patience.grow(Duration::from_secs(60));
    let error = lock.take(SHORT, &mut patience).unwrap_err();
    assert!(matches!(error, LockError::Abandoned { .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains(&format!("remove the lock with: rm -r '{}'", path.display())), "{text}");
    assert!(path.exists(), "it is offered, not done");
    // A new directory with the same name is another holder, so the minute starts again.
    fs::remove_dir(&path).unwrap();
    std::thread::sleep(Duration::from_millis(20));
    fs::create_dir(&path).unwrap();
    let error = lock.take(SHORT, &mut patience).unwrap_err();
    assert!(matches!(error, LockError::Held { .. }), "{error}");
    fs::remove_dir(&path).unwrap();
    assert!(lock.take(SHORT, &mut patience).is_ok());
}

/// The age counts from before this process: after starting an editor, the user need not wait a minute for the report.
#[test]
fn an_old_unnamed_lock_is_reported_at_once() {
    let dir = tempfile::Builder::new().prefix("it's ").tempdir().unwrap();
    let path = dir.path().join(LOCK);
    fs::create_dir(&path).unwrap();
    age(&path);
    let error = Lock::of(dir.path()).take(SHORT, &mut Patience::default()).unwrap_err();
    assert!(matches!(error, LockError::Abandoned { .. }), "{error}");
    let command = error.to_string().split_once("remove the lock with: ").unwrap().1.to_owned();
    assert!(error.to_string().contains("for 1h 0m"), "{error}");
    // A time in the future does not increase the age.
    File::open(&path).unwrap().set_modified(SystemTime::now() + Duration::from_secs(3600)).unwrap();
    let error = Lock::of(dir.path()).take(SHORT, &mut Patience::default()).unwrap_err();
    assert!(matches!(error, LockError::Held { .. }), "{error}");
    // The suggested command works.
    assert!(Command::new("sh").args(["-c", &command]).status().unwrap().success());
    assert!(!path.exists());
}

#[test]
fn a_holder_in_another_container_does_not_count_as_dead() {
    let dir = tempfile::tempdir().unwrap();
    let mut owner = Owner::this();
    owner.process.pid = 1_999_999_999;
    owner.space = "elsewhere pid:[1]".into();
    fs::create_dir(dir.path().join(LOCK)).unwrap();
    fs::write(dir.path().join(LOCK).join(RECORD), serde_json::to_vec(&owner).unwrap()).unwrap();
    let mut patience = Patience::default();
    let error = Lock::of(dir.path()).take(SHORT, &mut patience).unwrap_err();
    assert!(error.to_string().contains("has been held by process 1999999999 on \"elsewhere\""), "{error}");
    patience.grow(Duration::from_secs(61));
    let error = Lock::of(dir.path()).take(SHORT, &mut patience).unwrap_err();
    assert!(matches!(error, LockError::Abandoned { .. }), "{error}");
}

#[test]
fn a_reused_process_id_is_not_the_owner() {
    let mut owner = Owner::this();
    assert_eq!(owner.life(), Life::Alive);
    owner.process.start_time += 1;
    assert_eq!(owner.life(), Life::Dead);
    let mut owner = Owner::this();
    owner.process.boot_id = "another boot".into();
    assert_eq!(owner.life(), Life::Dead);
}

#[test]
fn only_one_of_many_breakers_succeeds() {
    let (dir, mut child) = orphaned();
    let (inside, broke) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..32 {
            scope.spawn(|| {
                let held = Lock::of(dir.path()).take(SECOND * 20, &mut Patience::default()).unwrap();
                assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two hold the lock");
                broke.fetch_add(usize::from(held.broken.is_some()), Ordering::SeqCst);
                std::thread::sleep(Duration::from_millis(2));
                inside.fetch_sub(1, Ordering::SeqCst);
            });
        }
    });
    assert_eq!(broke.into_inner(), 1);
    assert!(names(dir.path()).is_empty());
    child.wait().unwrap();
}

#[test]
fn releasing_a_removed_lock_keeps_another_owners_lock() {
    let dir = tempfile::tempdir().unwrap();
    let held = Lock::of(dir.path()).take(SHORT, &mut Patience::default()).unwrap();
    fs::remove_dir_all(dir.path().join(LOCK)).unwrap();
    fs::create_dir(dir.path().join(LOCK)).unwrap();
    drop(held);
    assert!(dir.path().join(LOCK).exists());
}

#[test]
fn a_kill_at_any_time_leaves_a_whole_document_and_a_usable_lock() {
    let rounds = if std::env::var_os("SUPERPOWER_LONG").is_some() { 300 } else { 25 };
    let dir = tempfile::tempdir().unwrap();
    let place = Place::of_run(dir.path(), dir.path());
    let mut broken = 0;
    for round in 0..rounds {
        let mut child = process("write", dir.path());
        wait_for(&mut child, "writing");
        std::thread::sleep(Duration::from_micros(1_000 + round * 7_919 % 13_000));
        child.kill().unwrap();
        let begun = Instant::now();
        let found = Store::new(place.clone())
            .update(chrono::Utc::now(), SECOND, |record, _| count(record, "parent"))
            .unwrap();
        assert!(begun.elapsed() < SECOND, "{:?}", begun.elapsed());
        assert_eq!(found.aside, None);
        broken += usize::from(found.broken.is_some());
        let text = fs::read_to_string(place.document()).unwrap();
        let record = Record::parse(&text).unwrap();
        assert_eq!(record.json()["counts"]["parent"], round + 1, "an update was lost");
        child.wait().unwrap();
    }
    assert!(broken > 0, "no kill met a held lock: the test tests nothing");
    // The next update removes what was left beside the lock.
    Store::new(place).update(chrono::Utc::now(), SECOND, |_, _| {}).unwrap();
    assert_eq!(names(dir.path()), ["metadata.json"]);
}
