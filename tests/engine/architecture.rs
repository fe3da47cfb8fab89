//! The structure of the source: which module may use which, which are pure, and how long a file may be.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

/// Modules without I/O, clock and threads, so that a run can be replayed, and tested with events in any order.
const PURE: &[&str] = &[
    "assist",
    "check",
    "condition",
    "declaration",
    "diagnostic",
    "hidden",
    "lookalike",
    "outcome",
    "plan",
    "prompt",
    "run",
    "source",
    "suggest",
    "template",
    "terminal",
    "tolerant",
];

/// Names that a pure module must not use.
const IMPURE: &[&str] = &[
    r"\bstd::fs\b",
    r"\bstd::process\b",
    r"\bstd::thread\b",
    r"\bstd::net\b",
    r"\bstd::env\b",
    r"\bstd::io\b",
    r"\bFile::",
    r"\bCommand::",
    r"\bInstant::now\b",
    r"\bSystemTime::now\b",
    r"\bUtc::now\b",
    r"\bLocal\b",
    r"\b(environ|zone)::",
    r"\bUuid::(now_v7|new_v4)\b",
];

const LONGEST_RUST: usize = 400;
const LONGEST_LUA: usize = 300;

/// A source file of the engine.
pub struct Source {
    /// Relative to `src/`.
    pub path: String,
    /// The top module that it belongs to.
    module: String,
    /// The code without comments and inner tests.
    pub code: String,
}

impl Source {
    /// A file with this path relative to `src/`.
    pub fn new(path: &str, code: &str) -> Self {
        let module = path.split(['/', '.']).next().expect("a name").to_owned();
        Self { path: path.to_owned(), module, code: code.to_owned() }
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn files(under: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(under).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|it| it == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The part of a file before its inner tests.
fn without_tests(text: &str) -> &str {
    let inner = Regex::new(r"(?m)^#\[cfg\(test\)\]\s*\n(#\[.*\]\s*\n)*mod \w+ \{").expect("a pattern");
    inner.find(text).map_or(text, |tests| &text[..tests.start()])
}

/// The engine's source files, without the binaries.
pub fn sources() -> Vec<Source> {
    let src = root().join("src");
    let comment = Regex::new(r"(?m)^\s*//.*$").expect("a pattern");
    let all = files(&src, "rs").into_iter().map(|path| {
        let text = fs::read_to_string(&path).expect("a readable source");
        let path = path.strip_prefix(&src).expect("below src").to_string_lossy().into_owned();
        Source::new(&path, &comment.replace_all(without_tests(&text), ""))
    });
    all.filter(|source| {
        source.module != "lib" && source.module != "bin" && !source.path.ends_with("tests.rs")
    })
    .collect()
}

/// The modules of `lib.rs`, each with the number of its group.
fn groups() -> BTreeMap<String, usize> {
    let text = fs::read_to_string(root().join("src/lib.rs")).expect("src/lib.rs");
    let module = Regex::new(r"^(?:pub )?mod (\w+);$").expect("a pattern");
    let mut group = 0;
    let mut found = BTreeMap::new();
    for line in text.lines() {
        if line.trim().is_empty() {
            group += 1;
        } else if let Some(name) = module.captures(line) {
            found.insert(name[1].to_owned(), group);
        }
    }
    found
}

/// The modules that each module uses.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let single = Regex::new(r"\bcrate::(\w+)").expect("a pattern");
    let grouped = Regex::new(r"(?s)\buse crate::\{(.*?)\};").expect("a pattern");
    let first = Regex::new(r"^\s*(\w+)").expect("a pattern");
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for source in sources() {
        let used = found.entry(source.module.clone()).or_default();
        used.extend(single.captures_iter(&source.code).map(|name| name[1].to_owned()));
        for group in grouped.captures_iter(&source.code) {
            // Names inside of inner braces belong to the name before the braces.
            let mut depth = 0;
            let outer: String = group[1]
                .chars()
                .filter(|letter| {
                    depth += i32::from(*letter == '{') - i32::from(*letter == '}');
                    depth == 0 && *letter != '}'
                })
                .collect();
            used.extend(
                outer.split(',').filter_map(|item| first.captures(item)).map(|name| name[1].to_owned()),
            );
        }
        used.remove(&source.module);
    }
    found
}

#[test]
fn dependencies_point_towards_the_top_of_the_list() {
    let groups = groups();
    let mut wrong = Vec::new();
    for (module, used) in dependencies() {
        let Some(own) = groups.get(&module) else {
            wrong.push(format!("{module} does not stand in src/lib.rs"));
            continue;
        };
        for other in used {
            if groups.get(&other).is_some_and(|group| group > own) {
                wrong.push(format!("{module} knows {other}, which stands below it in src/lib.rs"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_two_modules_know_each_other() {
    let dependencies = dependencies();
    /// Searches a cycle from `module`; `path` is the way to it.
    fn follow(
        module: &str,
        path: &mut Vec<String>,
        done: &mut BTreeSet<String>,
        all: &BTreeMap<String, BTreeSet<String>>,
    ) {
        if let Some(start) = path.iter().position(|other| other == module) {
            panic!("a circle: {} → {module}", path[start..].join(" → "));
        }
        if done.contains(module) {
            return;
        }
        path.push(module.to_owned());
        for other in all.get(module).into_iter().flatten() {
            follow(other, path, done, all);
        }
        path.pop();
        done.insert(module.to_owned());
    }
    let mut done = BTreeSet::new();
    for module in dependencies.keys() {
        follow(module, &mut Vec::new(), &mut done, &dependencies);
    }
}

#[test]
fn only_the_binding_knows_the_editor() {
    let editor = Regex::new(r"\b(nvim_oxi|mlua)\b").expect("a pattern");
    let wrong: Vec<_> = sources()
        .into_iter()
        .filter(|source| source.module != "nvim" && editor.is_match(&source.code))
        .map(|source| source.path)
        .collect();
    assert!(wrong.is_empty(), "these name nvim_oxi or mlua: {wrong:?}");
}

#[test]
fn the_binding_takes_only_the_entry_from_nvim_oxi() {
    let name = Regex::new(r"\bnvim_oxi::(\w+)").expect("a pattern");
    for source in sources().into_iter().filter(|source| source.module == "nvim") {
        for used in name.captures_iter(&source.code) {
            assert!(matches!(&used[1], "lua" | "plugin"), "{} uses nvim_oxi::{}", source.path, &used[1]);
        }
    }
}

#[test]
fn the_binding_knows_only_the_door() {
    let used = dependencies().remove("nvim").unwrap_or_default();
    assert_eq!(used.into_iter().collect::<Vec<_>>(), ["engine", "server"]);
}

#[test]
fn what_is_pure_does_nothing() {
    let impure: Vec<_> = IMPURE.iter().map(|text| Regex::new(text).expect("a pattern")).collect();
    let mut wrong = Vec::new();
    for source in sources().iter().filter(|source| PURE.contains(&source.module.as_str())) {
        for pattern in &impure {
            if let Some(found) = pattern.find(&source.code) {
                wrong.push(format!("{} names {}", source.path, found.as_str()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Snapshots and messages are for users and for Lua; the engine decides by types. (Codes are private to the door.)
#[test]
fn nothing_in_the_engine_decides_by_a_key_or_by_words() {
    let reads = Regex::new(r#"\["\w+"\]\s*(?:==|!=|\.as_)|to_string\(\)\s*(?:==|!=)"#);
    let reads = reads.expect("a pattern");
    let rooms = ["engine", "runs"];
    for source in sources().into_iter().filter(|source| rooms.contains(&source.module.as_str())) {
        let found = reads.find(&source.code).map(|found| found.as_str().to_owned());
        assert!(found.is_none(), "{} decides by {found:?}", source.path);
    }
    for decides in
        [r#"if picture["state"] != "running""#, r#"refusal.to_string() == "lost""#, r#"data["n"].as_str()"#]
    {
        assert!(reads.is_match(decides), "{decides}");
    }
}

/// The editor's main thread may change the environment, which also has the time zone, so no other thread may read it.
#[test]
fn the_environment_is_read_in_one_place() {
    let reads =
        Regex::new(r"\benv::vars?(_os)?\b|\bLocal\b|\bgetenv\b|\bconfig_builder\b").expect("a pattern");
    // The disk faults and the panic test read variables of the tests; the others are called by the main thread only.
    let may = ["environ.rs", "zone.rs", "store/disk.rs", "engine/panic_test.rs", "process/server_client.rs"];
    for source in sources().iter().filter(|source| !may.contains(&&*source.path)) {
        let found = reads.find(&source.code).map(|found| found.as_str());
        assert_eq!(found, None, "{} reads the environment", source.path);
    }
}

#[test]
fn locks_survive_panics_in_one_way() {
    let own = Regex::new(r"fn locked\b|\bdowncast_ref::<&str>").expect("a pattern");
    for source in sources().iter().filter(|source| source.path != "sync.rs") {
        assert!(!own.is_match(&source.code), "{} has its own of what sync.rs has", source.path);
    }
}

#[test]
fn no_shell_is_involved() {
    let shell = Regex::new(r#"Command::new\("(?:/bin/)?(?:sh|bash|zsh|dash)"\)"#).expect("a pattern");
    for source in sources() {
        assert!(!shell.is_match(&source.code), "{} starts a shell", source.path);
    }
}

#[test]
fn every_source_says_why_it_exists() {
    for path in files(&root().join("src"), "rs") {
        let text = fs::read_to_string(&path).expect("a readable source");
        assert!(text.starts_with("//! "), "{} has no module documentation", path.display());
    }
}

#[test]
fn files_can_be_read_in_one_sitting() {
    let mut wrong = Vec::new();
    let mut measure = |under: &str, extension: &str, longest: usize| {
        for path in files(&root().join(under), extension) {
            let text = fs::read_to_string(&path).expect("a readable source");
            let lines = without_tests(&text).lines().count();
            if lines > longest {
                wrong.push(format!("{} has {lines} lines, {longest} is the most", path.display()));
            }
        }
    };
    measure("src", "rs", LONGEST_RUST);
    measure("lua", "lua", LONGEST_LUA);
    assert!(wrong.is_empty(), "split by responsibility:\n{}", wrong.join("\n"));
}
