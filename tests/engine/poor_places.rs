//! A launch in a restricted environment leaves nothing either, or it does not start and says why.
#![cfg(target_os = "linux")]

use super::alone::alone;
use super::child::child;
use super::escapes::{Editor, LONG, is_gone, nap, wait_until};
use super::places::{Place, in_place, skipped};
use std::path::Path;
use std::time::Duration;

/// Leaves two processes with the argument `$1`: one in its group, and one that has left group, session and parent.
const LEAVES: &str = "sleep $1 & env -i setsid sleep $1 & : > away; echo done";
/// Without `/proc` only the group can be reached.
const LEAVES_GROUP: &str = "sleep $1 & : > away; echo done";

/// An editor that launches the script in this environment.
fn editor(place: Place, folder: &Path, script: &str, nap: &str) -> Option<Editor> {
    let mut command = child("launch");
    command.arg("command").arg(folder).args(["/bin/sh", "-c", script, "-", nap]);
    Some(Editor(in_place(place, &command)?.spawn().unwrap()))
}

fn folder_for_everybody() -> tempfile::TempDir {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    dir
}

fn ends_with_nothing_left(place: Place, script: &str, nap: &str) {
    let dir = folder_for_everybody();
    let Some(_editor) = editor(place, dir.path(), script, nap) else { return };
    wait_until("the agent ends", LONG, || dir.path().join("ended").exists());
    assert!(is_gone(nap) && dir.path().join("away").exists(), "{place:?}");
    assert_eq!(std::fs::read_to_string(dir.path().join("ended")).unwrap(), "Passed");
}

#[test]
fn as_the_first_process() {
    ends_with_nothing_left(Place::First, LEAVES, &nap(6, 0));
}

#[test]
fn without_proc_the_group_ends() {
    ends_with_nothing_left(Place::NoProc, LEAVES_GROUP, &nap(6, 1));
}

#[test]
fn below_another_that_adopts_orphans() {
    alone("poor_places::below_another_that_adopts_orphans", &[], || {
        rustix::process::set_child_subreaper(Some(rustix::process::getpid())).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let nap = nap(6, 2);
        let stays = format!("{LEAVES}; sleep $1");
        let editor = editor(Place::Here, dir.path(), &stays, &nap).unwrap();
        wait_until("the agent is away", LONG, || dir.path().join("away").exists());
        drop(editor);
        wait_until("nothing is left", Duration::from_secs(2), || is_gone(&nap));
    });
}

/// The launch works, or it fails in time. In both cases nothing is left.
fn works_or_fails(place: Place, nap: &str) -> Option<bool> {
    let dir = folder_for_everybody();
    let editor = editor(place, dir.path(), LEAVES, nap)?;
    let ended = || dir.path().join("ended").exists();
    wait_until("it works or fails", LONG, || ended() || superpower::process::record(editor.0.id()).is_none());
    let works = ended();
    drop(editor);
    wait_until("nothing is left", LONG, || is_gone(nap));
    Some(works)
}

#[test]
fn with_few_descriptors() {
    let mut worked = Vec::new();
    for (at, most) in [5, 8, 10, 12, 14, 16, 18, 20, 24, 32].into_iter().enumerate() {
        let Some(works) = works_or_fails(Place::Descriptors(most), &nap(7, at)) else { return };
        worked.push(works);
    }
    assert!(!worked[0] && worked[worked.len() - 1], "{worked:?}");
}

#[test]
fn with_few_processes() {
    // The user `nobody` may have no access to the directory of the test's program.
    if works_or_fails(Place::Processes(200), &nap(8, 0)) != Some(true) {
        skipped("nobody cannot start a test");
        return;
    }
    let mut worked = Vec::new();
    for most in 1..16 {
        worked.push(works_or_fails(Place::Processes(most), &nap(8, most as usize)).unwrap());
    }
    assert!(!worked[0], "{worked:?}");
}
