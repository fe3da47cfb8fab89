//! No file below a project or in our state is opened without a door.

use crate::architecture::sources;
use regex::Regex;
use std::sync::LazyLock;

/// Files that may work without a door, and why. A name that ends in `/` is a folder.
const ALLOWED: &[(&str, &str)] = &[
    ("store/beneath.rs", "it is the door"),
    ("store/beneath/", "it is the door"),
    ("process/tree.rs", "reads /proc, which is the kernel's"),
    ("process/limit.rs", "reads /proc, which is the kernel's"),
    ("process/identity.rs", "reads /proc, which is the kernel's"),
    ("process/leader.rs", "reads /proc, which is the kernel's"),
    ("process/program.rs", "looks for programs in the entries of PATH"),
    ("process/guard_client.rs", "looks for the guard beside the library"),
    ("server/start.rs", "looks for the program beside the library"),
    ("server/driver.rs", "opens /dev/null in the place of its starter's streams"),
    ("checkpoint/owner.rs", "reads /proc, which is the kernel's"),
    ("nvim/panics.rs", "writes the log that the editor names, where nothing else can be relied on"),
    (
        "project/review/",
        "asks what stands in git's work tree, which may begin above the project; opens nothing of it",
    ),
];

/// Names of the standard library that open no file.
const TYPES: &[&str] = &["::File", "::File;", "::TryLockError;", "::{File, TryLockError};"];

/// What is searched for: imports, names, and queries about paths or values that may be paths.
static PATTERNS: LazyLock<[Regex; 4]> = LazyLock::new(|| {
    [
        r"\bstd::fs\b((?:::\{[^}]*\}|[^\s,)])*)",
        r"\bfs::[a-z_]+\(|\bFile::(?:open|create|create_new|options)\b|\bOpenOptions\b|\bDirBuilder\b|\bread_dir\b|\bcanonicalize\b",
        r"\.(?:exists|try_exists|is_file|is_dir|is_symlink|symlink_metadata|read_link)\(\)",
        r"(\w+)\.metadata\(\)",
    ]
    .map(|pattern| Regex::new(pattern).expect("a pattern"))
});

/// Uses in a source that bypass the door.
fn ways_past(code: &str) -> Vec<String> {
    let [imported, named, asked, metadata] = &*PATTERNS;
    let imports = imported.captures_iter(code).filter(|it| !TYPES.contains(&&it[1]));
    let mut found: Vec<String> = imports.map(|it| it[0].to_owned()).collect();
    found.extend(named.find_iter(code).map(|it| it.as_str().to_owned()));
    found.extend(asked.find_iter(code).map(|it| it.as_str().to_owned()));
    // Metadata of an open file is allowed.
    found.extend(metadata.captures_iter(code).filter(|it| &it[1] != "file").map(|it| it[0].to_owned()));
    found
}

fn allowed(path: &str) -> bool {
    ALLOWED.iter().any(|(name, _)| path == *name || name.ends_with('/') && path.starts_with(name))
}

#[test]
fn files_are_opened_through_a_door_only() {
    let mut wrong = Vec::new();
    for source in sources().into_iter().filter(|source| !allowed(&source.path)) {
        let ways = ways_past(&source.code).into_iter();
        wrong.extend(ways.map(|way| format!("{}: {way}", source.path)));
    }
    assert!(wrong.is_empty(), "use store::beneath instead, or say why not:\n{}", wrong.join("\n"));
}

#[test]
fn every_listed_exception_is_needed() {
    let sources = sources();
    for (name, _) in ALLOWED {
        let mut of = sources.iter().filter(|source| source.path == *name || source.path.starts_with(name));
        assert!(of.any(|source| !ways_past(&source.code).is_empty()), "{name} need not be in the list");
    }
}

#[test]
fn the_check_detects_files_opened_without_a_door() {
    for code in [
        "use std::fs;",
        "use std::fs::{self, File};",
        "use std::fs::OpenOptions;",
        "std::fs::read(path)",
        "fs::write(path, text)",
        "File::open(path)",
        "File::options().append(true)",
        "root.join(TOKENS).exists()",
        "path.canonicalize()",
        "dir.metadata()",
        "link.symlink_metadata()",
    ] {
        assert!(!ways_past(code).is_empty(), "{code}");
    }
    for code in [
        "use std::fs::File;",
        "use std::fs::{File, TryLockError};",
        "self.file.metadata()?.len()",
        "door.is_dir(path)",
        "rustix_fs_open()",
    ] {
        assert_eq!(ways_past(code), [""; 0], "{code}");
    }
}
