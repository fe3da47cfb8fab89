//! The door to files: what it opens, what it refuses, and that it never blocks.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use superpower::store::beneath::{Door, Kind, Refused, SMALL, set_walking};

/// A project, and beside it a folder of another user.
struct Place {
    _dir: tempfile::TempDir,
    root: PathBuf,
    outside: PathBuf,
}

fn place() -> Place {
    let dir = tempfile::tempdir().unwrap();
    let base = dir.path().canonicalize().unwrap();
    let (root, outside) = (base.join("project"), base.join("outside"));
    fs::create_dir_all(root.join(".claude/state")).unwrap();
    fs::create_dir_all(&outside).unwrap();
    fs::write(outside.join("secret"), "theirs").unwrap();
    Place { _dir: dir, root, outside }
}

/// Runs the test with `openat2`, and again with the walk that replaces it.
fn both(test: impl Fn(&Place)) {
    for walking in [false, true] {
        set_walking(walking);
        test(&place());
        set_walking(false);
    }
}

fn fifo(path: &Path) {
    let path = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
    // SAFETY: the string ends in a NUL and outlives the call.
    assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
}

fn refused(error: &std::io::Error) -> Refused {
    Refused::of(error).unwrap_or_else(|| panic!("not refused: {error}")).clone()
}

#[test]
fn a_file_can_be_read_written_renamed_and_removed() {
    both(|place| {
        let door = Door::ours(&place.root);
        let (a, b) = (place.root.join(".claude/state/a"), place.root.join(".claude/state/b"));
        door.replace(&a, b"one").unwrap();
        door.replace(&a, b"two").unwrap();
        assert_eq!(door.read(&a, SMALL).unwrap(), b"two");
        assert_eq!(door.stat(&a).unwrap().kind, Kind::File);
        door.rename(&a, &b).unwrap();
        assert!(!door.is_file(&a));
        assert_eq!(door.create_new(&b).unwrap_err().kind(), std::io::ErrorKind::AlreadyExists);
        door.hard_link(&b, &a).unwrap();
        assert_eq!(door.rename_new(&a, &b).unwrap_err().kind(), std::io::ErrorKind::AlreadyExists);
        let names: Vec<_> =
            door.list(&place.root.join(".claude/state")).unwrap().into_iter().map(|it| it.name).collect();
        assert_eq!(names, ["a", "b"]);
        door.remove_file(&a).unwrap();
        door.create_dirs(&place.root.join("x/y/z")).unwrap();
        door.create_dirs(&place.root.join("x/y/z")).unwrap();
        door.remove_tree(&place.root.join("x")).unwrap();
        assert!(!place.root.join("x").exists());
        assert_eq!(door.read(&a, SMALL).unwrap_err().kind(), std::io::ErrorKind::NotFound);
    });
}

#[test]
fn links_to_our_own_files_are_refused() {
    both(|place| {
        let state = place.root.join(".claude/state");
        fs::write(place.root.join("inside"), "x").unwrap();
        fs::create_dir(place.root.join("folder")).unwrap();
        symlink(place.outside.join("secret"), state.join("out")).unwrap();
        symlink("../../inside", state.join("in")).unwrap();
        symlink("../../folder", state.join("runs")).unwrap();
        let door = Door::ours(&place.root);
        for name in ["out", "in", "runs/x"] {
            let path = state.join(name);
            let tried = [
                door.read(&path, SMALL).map(drop),
                door.append(&path).map(drop),
                door.open_or_create(&path).map(drop),
                door.open_to_write(&path).map(drop),
                door.create_dirs(&path),
            ];
            for error in tried.into_iter().map(Result::unwrap_err) {
                assert!(matches!(refused(&error), Refused::Link(_)), "{name}: {error}");
            }
        }
        assert!(door.create_new(&state.join("out")).is_err());
        // A link is replaced, not written through; and removed, not what it leads to.
        door.replace(&state.join("out"), b"ours").unwrap();
        door.remove_file(&state.join("in")).unwrap();
        door.remove_tree(&state.join("runs")).unwrap();
        assert_eq!(fs::read(place.outside.join("secret")).unwrap(), b"theirs");
        assert!(place.root.join("inside").exists() && place.root.join("folder").exists());
        assert!(!state.join("out").is_symlink());
    });
}

#[test]
fn a_link_at_dot_claude_must_stay_in_the_project() {
    both(|place| {
        fs::rename(place.root.join(".claude"), place.root.join("dot")).unwrap();
        symlink("dot", place.root.join(".claude")).unwrap();
        let door = Door::ours(&place.root);
        door.create_dirs(&place.root.join(".claude/state/runs")).unwrap();
        door.replace(&place.root.join(".claude/state/runs/a"), b"x").unwrap();
        assert!(place.root.join("dot/state/runs/a").is_file());
        fs::remove_file(place.root.join(".claude")).unwrap();
        symlink(&place.outside, place.root.join(".claude")).unwrap();
        let error = door.create_dirs(&place.root.join(".claude/state")).unwrap_err();
        assert!(matches!(refused(&error), Refused::Outside(_)), "{error}");
        assert!(door.replace(&place.root.join(".claude/a"), b"x").is_err());
        assert_eq!(fs::read_dir(&place.outside).unwrap().count(), 1);
    });
}

#[test]
fn links_inside_the_project_are_followed_for_peoples_files() {
    both(|place| {
        let agents = place.root.join(".claude/agents");
        fs::create_dir_all(&agents).unwrap();
        fs::create_dir(place.root.join("shared")).unwrap();
        fs::write(place.root.join("shared/a.md"), "agent").unwrap();
        symlink("../../shared/a.md", agents.join("relative.md")).unwrap();
        symlink(place.root.join("shared/a.md"), agents.join("whole.md")).unwrap();
        symlink("../../shared", agents.join("folder")).unwrap();
        symlink("relative.md", agents.join("again.md")).unwrap();
        symlink(place.outside.join("secret"), agents.join("out.md")).unwrap();
        symlink("../../../outside/secret", agents.join("up.md")).unwrap();
        symlink("../../../project/../outside", agents.join("away")).unwrap();
        symlink("circle.md", agents.join("circle.md")).unwrap();
        let door = Door::people(&place.root);
        for name in ["relative.md", "whole.md", "folder/a.md", "again.md", "folder/../shared/a.md"] {
            assert_eq!(door.read(&agents.join(name), SMALL).unwrap(), b"agent", "{name}");
            assert_eq!(door.stat(&agents.join(name)).unwrap().kind, Kind::File, "{name}");
        }
        for name in ["out.md", "up.md", "away/secret"] {
            let error = door.read(&agents.join(name), SMALL).unwrap_err();
            assert!(matches!(refused(&error), Refused::Outside(_)), "{name}: {error}");
            assert!(error.to_string().contains(name), "{error}");
            assert!(!door.is_file(&agents.join(name)));
        }
        assert!(door.read(&agents.join("circle.md"), SMALL).is_err());
        assert!(door.read(Path::new("../outside/secret"), SMALL).is_err());
        assert!(matches!(
            refused(&door.read(Path::new("/etc/hostname"), SMALL).unwrap_err()),
            Refused::NotBelow(_)
        ));
    });
}

#[test]
fn pipes_devices_sockets_and_folders_are_refused_at_once() {
    both(|place| {
        let state = place.root.join(".claude/state");
        fifo(&state.join("pipe"));
        let _socket = UnixListener::bind(state.join("socket")).unwrap();
        fs::create_dir(state.join("folder")).unwrap();
        symlink("/dev/zero", state.join("endless")).unwrap();
        for door in
            [Door::ours(&place.root), Door::people(&place.root), Door::state(&state), Door::home(&state)]
        {
            for name in ["pipe", "socket", "folder", "endless"] {
                let path = state.join(name);
                let started = Instant::now();
                let read = door.read(&path, SMALL).unwrap_err();
                assert!(read.to_string().contains(name), "{read}");
                assert!(
                    matches!(refused(&read), Refused::NotAFile(..) | Refused::Link(_) | Refused::Outside(_)),
                    "{read}"
                );
                for written in [door.append(&path).map(drop), door.open_or_create(&path).map(drop)] {
                    refused(&written.unwrap_err());
                }
                assert!(started.elapsed() < Duration::from_millis(100), "{name}");
            }
        }
    });
}

#[test]
fn reads_respect_their_size_limit() {
    both(|place| {
        let path = place.root.join("huge");
        fs::File::create(&path).unwrap().set_len(1 << 40).unwrap();
        let started = Instant::now();
        let error = Door::people(&place.root).read(&path, SMALL).unwrap_err();
        assert_eq!(refused(&error), Refused::TooLarge(path.clone(), SMALL));
        assert!(error.to_string().contains("larger than 16 MiB"), "{error}");
        assert!(started.elapsed() < Duration::from_millis(100));
        // A file with a wrong size, as in `/proc`.
        let status = Door::home(Path::new("/proc/self")).read(Path::new("/proc/self/status"), 10);
        assert!(
            cfg!(not(target_os = "linux")) || matches!(refused(&status.unwrap_err()), Refused::TooLarge(..))
        );
        fs::write(place.root.join("ten"), "0123456789").unwrap();
        assert!(Door::people(&place.root).read(&place.root.join("ten"), 10).is_ok());
        assert!(Door::people(&place.root).read(&place.root.join("ten"), 9).is_err());
    });
}

#[test]
fn files_in_our_state_are_private() {
    both(|place| {
        let dir = place.outside.join("state");
        symlink(&place.outside, place.root.join("way")).unwrap();
        let door = Door::state(&place.root.join("way/state"));
        door.create_dirs(Path::new("trust")).unwrap();
        door.replace(&place.root.join("way/state/trust/a"), b"x").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&dir), mode(&dir.join("trust")), mode(&dir.join("trust/a"))), (0o700, 0o700, 0o600));
        symlink(&place.root, dir.join("reviews")).unwrap();
        let error = door.create_dirs(Path::new("reviews/x")).unwrap_err();
        assert!(matches!(refused(&error), Refused::Link(_)), "{error}");
    });
}

#[test]
fn a_replaced_base_folder_is_used_at_once() {
    both(|place| {
        let (state, file) = (place.root.join(".claude/state"), place.root.join(".claude/state/a"));
        let (ours, people) = (Door::ours(&place.root), Door::people(&place.root));
        ours.replace(&file, b"before").unwrap();
        fs::rename(&place.root, place.root.with_extension("moved")).unwrap();
        assert!(!ours.is_file(&file) && ours.replace(&file, b"lost").is_err());
        fs::create_dir_all(&state).unwrap();
        ours.replace(&file, b"after").unwrap();
        assert_eq!(people.read(&file, SMALL).unwrap(), b"after");
        assert_eq!(fs::read(place.root.with_extension("moved").join(".claude/state/a")).unwrap(), b"before");
    });
}

#[test]
fn a_path_with_dots_cannot_leave_the_folder() {
    both(|place| {
        fs::write(place.root.join("inside"), "ours").unwrap();
        let door = Door::people(&place.root);
        assert_eq!(door.read(Path::new(".claude/../inside"), SMALL).unwrap(), b"ours");
        let error = door.read(Path::new(".claude/../../outside/secret"), SMALL).unwrap_err();
        assert!(matches!(refused(&error), Refused::Outside(_)), "{error}");
        assert!(Door::ours(&place.root).read(Path::new(".claude/../inside"), SMALL).is_err());
    });
}

#[test]
fn a_link_at_the_end_is_described_and_one_on_the_way_is_refused() {
    both(|place| {
        let state = place.root.join(".claude/state");
        fs::write(state.join("file"), "12345").unwrap();
        symlink("file", state.join("link")).unwrap();
        symlink("gone", state.join("dangling")).unwrap();
        symlink(&place.outside, state.join("way")).unwrap();
        let (ours, people) = (Door::ours(&place.root), Door::people(&place.root));
        for (name, kind) in [
            ("file", Kind::File),
            ("link", Kind::Link),
            ("dangling", Kind::Link),
            ("way", Kind::Link),
            ("", Kind::Dir),
        ] {
            let path = state.join(name);
            assert_eq!(ours.stat(&path).unwrap().kind, kind, "{name}");
            assert_eq!(people.lstat(&path).unwrap().kind, kind, "{name}");
        }
        assert_eq!(people.stat(&state.join("link")).unwrap().len, 5);
        assert_eq!(ours.stat(&state.join("file")).unwrap(), people.stat(&state.join("file")).unwrap());
        let error = ours.stat(&state.join("way/secret")).unwrap_err();
        assert!(matches!(refused(&error), Refused::Link(_)), "{error}");
        assert!(people.lstat(&state.join("way/secret")).is_err());
        for gone in ["gone", "gone/too"] {
            assert_eq!(ours.stat(&state.join(gone)).unwrap_err().kind(), std::io::ErrorKind::NotFound);
        }
        assert!(ours.stat(&state.join("file/x")).is_err());
        assert!(ours.lstat(&place.root).is_err(), "the folder itself has no name in it");
    });
}
