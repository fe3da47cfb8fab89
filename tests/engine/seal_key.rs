//! The key of the seals, and what a seal covers.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use superpower::store::seal::{Key, Seal, Sealer};
use superpower::store::state::{State, project};

fn state() -> (tempfile::TempDir, State) {
    let dir = tempfile::tempdir().unwrap();
    let state = State::at(Some(&dir.path().join("superpower"))).unwrap();
    (dir, state)
}

fn seal(key: &Key, text: &str) -> Seal {
    Sealer::new(key, "journal", Path::new("/p"), "run").seal(None, text.as_bytes())
}

#[test]
fn a_key_is_created_once_and_is_private() {
    let (_dir, state) = state();
    assert!(Key::read(&state).unwrap().is_none());
    let keys: Vec<Key> = std::thread::scope(|scope| {
        let makers: Vec<_> = (0..8).map(|_| scope.spawn(|| Key::read_or_make(&state).unwrap())).collect();
        makers.into_iter().map(|maker| maker.join().unwrap()).collect()
    });
    assert!(keys.iter().all(|key| seal(key, "x") == seal(&keys[0], "x")));
    let file = state.dir().join("key");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::read_dir(state.dir()).unwrap().count(), 1, "nothing is left beside it");
    fs::remove_file(&file).unwrap();
    assert!(seal(&Key::read_or_make(&state).unwrap(), "x") != seal(&keys[0], "x"));
}

#[test]
fn an_invalid_key_is_neither_used_nor_overwritten() {
    let (_dir, state) = state();
    state.make(Path::new("")).unwrap();
    for bytes in [&b""[..], b"short", &[7; 33]] {
        fs::write(state.dir().join("key"), bytes).unwrap();
        assert!(Key::read(&state).is_err() && Key::read_or_make(&state).is_err());
        assert_eq!(fs::read(state.dir().join("key")).unwrap(), bytes);
    }
}

#[test]
fn a_seal_covers_bytes_position_run_and_project() {
    let (_dir, state) = state();
    let key = Key::read_or_make(&state).unwrap();
    let of = |what: &str, root: &str, run: &str| Sealer::new(&key, what, Path::new(root), run);
    let sealer = of("journal", "/p", "run");
    let first = sealer.seal(None, b"x");
    let second = sealer.seal(Some(&first), b"x");
    assert!(sealer.fits(None, b"x", &first) && sealer.fits(Some(&first), b"x", &second));
    assert!(!sealer.fits(None, b"x", &second) && !sealer.fits(Some(&second), b"x", &second));
    assert!(!sealer.fits(None, b"y", &first));
    for other in [of("summary", "/p", "run"), of("journal", "/q", "run"), of("journal", "/pr", "un")] {
        assert!(!other.fits(None, b"x", &first));
    }
    assert_eq!(Seal::parse(first.to_string().as_bytes()), Some(first));
    assert_eq!(Seal::parse(b"00"), None);
    assert_eq!(Seal::parse(&[b'x'; Seal::DIGITS]), None);
}

#[test]
fn each_project_has_its_own_digits() {
    assert_eq!(project(Path::new("/a")).len(), 16);
    assert_ne!(project(Path::new("/a")), project(Path::new("/b")));
    let state = State::at(Some(Path::new("/s"))).unwrap();
    assert_eq!(state.dir(), Path::new("/s"));
}

/// Existing journals and summaries must stay ours in later versions, so the sealed bytes and their format must not
/// change.
#[test]
fn a_sealed_journal_of_format_2_stays_ours() {
    let (_dir, state) = state();
    state.make(Path::new("")).unwrap();
    fs::write(state.dir().join("key"), [7; 32]).unwrap();
    let key = Key::read(&state).unwrap().unwrap();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/sealed");
    for (what, file) in [("journal", "journal.jsonl"), ("summary", "summary.json")] {
        let sealer = Sealer::new(&key, what, Path::new("/golden"), "0198a000-0000-7000-8000-000000000002");
        let bytes = fs::read(fixtures.join(file)).unwrap();
        let (mut last, mut lines) = (None, 0);
        for line in bytes.split_inclusive(|&byte| byte == b'\n') {
            let (text, seal) =
                sealer.open(last.as_ref(), line).unwrap_or_else(|| panic!("{file}, line {}", lines + 1));
            let mut again = text;
            assert_eq!(sealer.close(last.as_ref(), &mut again, 0), seal);
            assert_eq!(again, line, "it is written as it was");
            (last, lines) = (Some(seal), lines + 1);
        }
        assert!(lines > 0);
    }
}
