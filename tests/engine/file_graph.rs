//! The files of the engine use each other without a cycle, so that a reader can start with the files that a file depends on.
//!
//! A file uses the file that *defines* a name. Re-exports are followed, and neither they nor `mod` declarations count as
//! uses. Method calls are not detected.

use crate::architecture::{Source, sources};
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// Directories that still contain cycles. Entries may only be removed.
const LEFT: [&str; 0] = [];

/// A module, as its names from the crate root.
type Module = Vec<String>;
/// A path as written in the source.
type Path = Vec<String>;

static USE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?s)\b(?:pub(?:\([^)]*\))?\s+)?use\s+([^;]+);").expect("a pattern"));
static MOD: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\bmod\s+(\w+)\s*;").expect("a pattern"));
static DEFINED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b(?:struct|enum|trait|fn|const|static|type|union|macro_rules!)\s+(\w+)").expect("a pattern")
});
static PATH: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?:crate|super|self|[a-z_]\w*)(?:::\w+)+").expect("a pattern"));
static WORD: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(\w+)").expect("a pattern"));
static TEXT: LazyLock<Regex> = LazyLock::new(|| Regex::new(r#"(?s)"(?:\\.|[^"\\])*""#).expect("a pattern"));
/// A quotation mark as a character, and raw strings that may contain one.
static QUOTE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r##"(?s)'\\?"'|r#".*?"#"##).expect("a pattern"));
static COMMENT: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(?m)//.*$").expect("a pattern"));

/// The names in a file.
struct File {
    path: String,
    /// The imported paths, each with its local name.
    uses: Vec<(Path, String)>,
    /// The code without imports.
    body: String,
    /// The words of the code.
    words: BTreeSet<String>,
    children: BTreeSet<String>,
    defined: BTreeSet<String>,
}

/// The files by their modules.
struct Graph(BTreeMap<Module, File>);

impl Graph {
    fn of(sources: &[Source]) -> Self {
        let file = |source: &Source| {
            let code = QUOTE.replace_all(&source.code, "\"\"");
            let code = TEXT.replace_all(&code, "\"\"");
            let code = COMMENT.replace_all(&code, "");
            let uses = USE.captures_iter(&code).flat_map(|found| expand(&found[1])).collect();
            let body = USE.replace_all(&code, "").into_owned();
            let names = |pattern: &Regex| pattern.captures_iter(&body).map(|it| it[1].to_owned()).collect();
            let (children, defined, words) = (names(&MOD), names(&DEFINED), names(&WORD));
            (module(&source.path), File { path: source.path.clone(), uses, children, defined, words, body })
        };
        Self(sources.iter().map(file).collect())
    }

    /// Every use, as pairs of file paths.
    fn edges(&self) -> BTreeMap<&str, BTreeSet<&str>> {
        let mut edges: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (module, file) in &self.0 {
            let used = edges.entry(&file.path).or_default();
            let named = |name: &str| name == "_" || file.words.contains(name);
            let imported = file.uses.iter().filter(|(_, name)| named(name)).map(|(path, _)| path.clone());
            let written = PATH.find_iter(&file.body).filter(|found| {
                !file.body[..found.start()].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':')
            });
            let written = written.map(|found| found.as_str().split("::").map(str::to_owned).collect());
            for path in imported.chain(written) {
                let from = self.absolute(module, &path, 0);
                let definer = from.and_then(|(start, rest)| self.definer(start, &rest, &mut Vec::new()));
                if let Some(other) = definer.filter(|other| other.path != file.path) {
                    used.insert(&other.path);
                }
            }
        }
        edges
    }

    /// The module that a path begins at, and the rest of the path; `None` for other crates.
    fn absolute(&self, module: &Module, path: &[String], depth: usize) -> Option<(Module, Path)> {
        match path.first()?.as_str() {
            "crate" => return Some((Vec::new(), path[1..].to_vec())),
            "self" => return Some((module.clone(), path[1..].to_vec())),
            "super" => {
                let ups = path.iter().take_while(|word| *word == "super").count();
                return Some((module[..module.len().checked_sub(ups)?].to_vec(), path[ups..].to_vec()));
            }
            _ => {}
        }
        let file = self.0.get(module)?;
        if file.children.contains(&path[0]) {
            return Some((module.clone(), path.to_vec()));
        }
        let imported = file.uses.iter().filter(|(up, name)| *name == path[0] && up != path && depth < 8);
        let mut found = imported.filter_map(|(up, _)| self.absolute(module, up, depth + 1));
        found.next().map(|(start, rest)| (start, [rest, path[1..].to_vec()].concat()))
    }

    /// The file that defines the target of a path; `None` for a module and for other crates.
    fn definer(
        &self,
        mut module: Module,
        mut rest: &[String],
        seen: &mut Vec<(Module, String)>,
    ) -> Option<&File> {
        while let Some(name) = rest.first() {
            let inner = [module.clone(), vec![name.clone()]].concat();
            if !self.0.contains_key(&inner) {
                break;
            }
            (module, rest) = (inner, &rest[1..]);
        }
        let (file, name) = (self.0.get(&module)?, rest.first()?);
        let here = (module.clone(), name.clone());
        if file.defined.contains(name) || seen.contains(&here) {
            return Some(file);
        }
        match file.uses.iter().find(|(_, as_name)| as_name == name) {
            Some((up, _)) => {
                seen.push(here);
                let (start, inner) = self.absolute(&module, up, 0)?;
                self.definer(start, &[inner, rest[1..].to_vec()].concat(), seen)
            }
            None => Some(file),
        }
    }
}

/// `harness/claude/mod.rs` is `harness::claude`.
fn module(path: &str) -> Module {
    let path = path.strip_suffix(".rs").unwrap_or(path);
    let path = path.strip_suffix("/mod").unwrap_or(path);
    path.split('/').map(str::to_owned).collect()
}

/// The paths of a `use`, each with its local name.
fn expand(tree: &str) -> Vec<(Path, String)> {
    let tree = tree.trim();
    let words = |text: &str| -> Path {
        text.split("::").map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect()
    };
    if let Some((before, inner)) = tree.split_once('{') {
        let before = words(before);
        let inner = inner.trim_end().strip_suffix('}').unwrap_or(inner);
        let mut found = Vec::new();
        for (path, name) in parts(inner).iter().flat_map(|part| expand(part)) {
            let is_self = path.as_slice() == ["self"];
            let own = before.last().cloned().unwrap_or_default();
            let name = if is_self && name == "self" { own } else { name };
            let rest = if is_self { Vec::new() } else { path };
            found.push(([before.clone(), rest].concat(), name));
        }
        return found;
    }
    let (path, name) = tree.split_once(" as ").map_or((tree, None), |(path, name)| (path, Some(name.trim())));
    let path = words(path);
    let Some(last) = path.last().cloned() else { return Vec::new() };
    vec![(path, name.map_or(last, str::to_owned))]
}

/// The parts between commas outside of inner braces.
fn parts(inner: &str) -> Vec<String> {
    let (mut parts, mut depth) = (vec![String::new()], 0);
    for letter in inner.chars() {
        depth += i32::from(letter == '{') - i32::from(letter == '}');
        match letter {
            ',' if depth == 0 => parts.push(String::new()),
            _ => parts.last_mut().expect("there is one").push(letter),
        }
    }
    parts.retain(|part| !part.trim().is_empty());
    parts
}

/// A cycle, as `a → b → a`, if there is one.
fn circle(edges: &BTreeMap<&str, BTreeSet<&str>>) -> Option<String> {
    fn follow<'a>(
        file: &'a str,
        way: &mut Vec<&'a str>,
        done: &mut BTreeSet<&'a str>,
        edges: &BTreeMap<&'a str, BTreeSet<&'a str>>,
    ) -> Option<String> {
        if let Some(start) = way.iter().position(|other| *other == file) {
            return Some(format!("{} → {file}", way[start..].join(" → ")));
        }
        if done.contains(file) {
            return None;
        }
        way.push(file);
        let found = edges.get(file).into_iter().flatten().find_map(|other| follow(other, way, done, edges));
        way.pop();
        done.insert(file);
        found
    }
    let mut done = BTreeSet::new();
    edges.keys().find_map(|file| follow(file, &mut Vec::new(), &mut done, edges))
}

fn source(path: &str, code: &str) -> Source {
    Source::new(path, code)
}

#[test]
fn no_circle_of_files() {
    let graph = Graph::of(&sources());
    let mut edges = graph.edges();
    assert!(edges.values().map(BTreeSet::len).sum::<usize>() > 500, "uses are seen");
    for (file, used) in &mut edges {
        used.retain(|other| !LEFT.iter().any(|room| file.starts_with(room) && other.starts_with(room)));
    }
    if let Some(circle) = circle(&edges) {
        panic!("a circle of files: {circle}\nmove what both need into a file of its own, below them");
    }
}

#[test]
fn a_circle_is_found_through_modules_re_exports_and_paths() {
    let planted = |files: &[(&str, &str)]| {
        let sources: Vec<Source> = files.iter().map(|(path, code)| source(path, code)).collect();
        circle(&Graph::of(&sources).edges())
    };
    // Through imports, single and in braces.
    assert!(
        planted(&[
            ("a/mod.rs", "mod one; mod two;"),
            ("a/one.rs", "use super::two::{self, Two}; pub struct One(Two);"),
            ("a/two.rs", "use crate::a::one::One; pub struct Two(Option<Box<One>>);"),
        ])
        .is_some()
    );
    // Through a path in the code, and through a parent that only re-exports.
    let handed_on = [
        ("a/mod.rs", "mod one; mod two; pub use one::One; pub use two::Two;"),
        ("a/one.rs", "pub struct One; fn f() { let _ = super::two::make(); }"),
        ("a/two.rs", "use super::One; pub struct Two(One); pub fn make() -> Two { Two(One) }"),
    ];
    assert_eq!(planted(&handed_on).as_deref(), Some("a/one.rs → a/two.rs → a/one.rs"));
    // A parent that defines what its child uses, and calls the child.
    assert!(
        planted(&[
            ("a/mod.rs", "mod one; pub struct Top; fn f() { one::g() }"),
            ("a/one.rs", "use super::Top; pub fn g() { let _ = Top; }"),
        ])
        .is_some()
    );
    // A parent that only re-exports is in no cycle, and names in comments and strings do not count.
    let none = [
        ("a/mod.rs", "mod one; mod two; pub use one::One; pub use two::Two;"),
        ("a/one.rs", "pub struct One; // crate::a::two::Two\nconst T: &str = \"super::two::Two\";"),
        ("a/two.rs", "use super::One; pub struct Two(One);"),
    ];
    assert_eq!(planted(&none), None);
}
