//! Invalid declarations, each with all its problems.
//!
//! `tests/fixtures/declarations/invalid/NAME.yaml` is the declaration; a first line `# context: {…}` says what it is
//! checked against. `NAME.json` beside it has all problems that must be found. `UPDATE_FIXTURES=1` rewrites it.

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use superpower::check::{Checked, Context, check, check_bytes};
use superpower::diagnostic::{Code, Diagnostic, Fix, Severity};
use superpower::source::Span;

pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/declarations/invalid")
}

/// Every fixture: its path, its bytes, and what it is checked against.
pub fn fixtures() -> Vec<(PathBuf, Vec<u8>, Context)> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .collect();
    paths.sort();
    let fixture = |path: PathBuf| {
        let bytes = std::fs::read(&path).unwrap();
        let context = context(&bytes);
        (path, bytes, context)
    };
    paths.into_iter().map(fixture).collect()
}

fn context(bytes: &[u8]) -> Context {
    let text = String::from_utf8_lossy(bytes);
    let Some(line) = text.lines().next().and_then(|line| line.strip_prefix("# context: ")) else {
        return Context::default();
    };
    let value: Value = serde_json::from_str(line).unwrap();
    let list = |key: &str| {
        value[key]
            .as_array()
            .map(|all| all.iter().map(|one| one.as_str().unwrap().to_owned()).collect::<Vec<_>>())
    };
    let text = |key: &str| value[key].as_str().map(str::to_owned);
    Context {
        stem: text("stem"),
        agents: list("agents"),
        skills: list("skills"),
        facts: list("facts").unwrap_or_default(),
        harnesses: list("harnesses").unwrap_or_default(),
        twin: text("twin"),
        more_facts: value["more_facts"] == true,
        ..Context::default()
    }
}

pub fn apply(text: &str, fix: &Fix) -> String {
    let mut edits = fix.edits.clone();
    edits.sort_by_key(|edit| std::cmp::Reverse(edit.span));
    let mut text = text.to_owned();
    for edit in edits {
        text.replace_range(edit.span.start..edit.span.end, &edit.text);
    }
    text
}

fn place(checked: &Checked, span: Span) -> Value {
    let (start, end) = (checked.source.position(span.start), checked.source.position(span.end));
    json!({
        "bytes": [span.start, span.end],
        "utf16": format!("{}:{}-{}:{}", start.line, start.col_utf16, end.line, end.col_utf16),
        "text": checked.source.slice(span),
    })
}

fn shown(checked: &Checked, diagnostic: &Diagnostic) -> Value {
    let mut value = json!({
        "code": diagnostic.code.as_str(),
        "severity": diagnostic.severity,
        "path": diagnostic.path,
        "at": place(checked, diagnostic.span),
        "message": diagnostic.message,
    });
    if !diagnostic.related.is_empty() {
        let related = diagnostic.related.iter();
        value["related"] = related
            .map(|related| json!({ "at": place(checked, related.span), "message": related.message }))
            .collect();
    }
    if let Some(fix) = &diagnostic.fix {
        value["fix"] = json!({ "title": fix.title, "after": apply(checked.source.text(), fix) });
    }
    value
}

#[test]
fn each_fixture_reports_exactly_its_problems() {
    let update = std::env::var_os("UPDATE_FIXTURES").is_some();
    let all = fixtures();
    assert!(all.len() >= 150, "there are {} fixtures", all.len());
    let mut wrong = Vec::new();
    for (path, bytes, context) in all {
        let checked = check_bytes(&bytes, &context);
        assert!(!checked.diagnostics.is_empty(), "{}: nothing was found", path.display());
        let found: Value = checked.diagnostics.iter().map(|diagnostic| shown(&checked, diagnostic)).collect();
        let beside = path.with_extension("json");
        let text = format!("{}\n", serde_json::to_string_pretty(&found).unwrap());
        if update {
            std::fs::write(&beside, text).unwrap();
            continue;
        }
        let expected = std::fs::read_to_string(&beside).unwrap_or_default();
        if expected != text {
            wrong.push(format!("{}\nexpected {expected}\nfound {text}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_fix_removes_its_problem_and_adds_no_error() {
    let errors = |checked: &Checked| {
        let severe =
            |diagnostic: &&Diagnostic| diagnostic.severity == superpower::diagnostic::Severity::Error;
        checked.diagnostics.iter().filter(severe).count()
    };
    let mut wrong = Vec::new();
    for (path, bytes, context) in fixtures() {
        let before = check_bytes(&bytes, &context);
        for diagnostic in &before.diagnostics {
            let Some(fix) = &diagnostic.fix else { continue };
            let after = check(&apply(before.source.text(), fix), &context);
            let same = |checked: &Checked| {
                let alike = |other: &&Diagnostic| {
                    (other.code, &other.message, &other.path)
                        == (diagnostic.code, &diagnostic.message, &diagnostic.path)
                };
                checked.diagnostics.iter().filter(alike).count()
            };
            // Fixing a syntax error may reveal more problems.
            let severe = diagnostic.severity == Severity::Error && diagnostic.code != Code::YamlSyntax;
            let more = severe && errors(&after) >= errors(&before);
            if same(&after) >= same(&before) || more {
                let name = path.file_name().unwrap().to_string_lossy();
                wrong.push(format!(
                    "{name}: {} {}\n  {:?}\n  {:?}",
                    diagnostic.message,
                    fix.title,
                    fix.edits,
                    after.lines("")
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_code_has_a_fixture() {
    let mut seen = std::collections::HashSet::new();
    for (_, bytes, context) in fixtures() {
        seen.extend(check_bytes(&bytes, &context).diagnostics.iter().map(|diagnostic| diagnostic.code));
    }
    let missing: Vec<_> = Code::ALL.iter().filter(|code| !seen.contains(code)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// Faults of other tools, from public reports, each with the fixture that tests ours.
#[test]
fn known_mistakes_from_other_projects_are_reported() {
    let rows = [
        // A duplicate key or a malformed file reported at the wrong line.
        ("duplicate-key", Code::DuplicateKey, Severity::Error, "name"),
        ("quote-not-closed-top", Code::YamlSyntax, Severity::Error, "\"d"),
        // Aliases rejected, or wrong positions after them.
        ("alias-value-wrong", Code::UnknownGate, Severity::Error, "*g"),
        // A tab without a usable hint.
        ("tab-indents", Code::YamlSyntax, Severity::Error, "\t"),
        // A bare `{{x}}` that becomes nested mappings, or fails with an unrelated message.
        ("bare-template", Code::YamlSyntax, Severity::Error, "{{scope}} != full"),
        ("bare-template-alone", Code::YamlSyntax, Severity::Error, "{{dry}}"),
        // A colon in prose reported in technical terms; strict checks that rejected users' files.
        ("colon-in-description", Code::YamlSyntax, Severity::Error, "Spec intake: PROBLEM and SPEC"),
        ("unknown-top", Code::UnknownField, Severity::Warning, "author"),
        // Values that YAML 1.1 reads differently.
        ("version-float-ten", Code::WrongType, Severity::Error, "1.10"),
        ("name-on", Code::WrongType, Severity::Warning, "on"),
        ("default-string-no", Code::WrongType, Severity::Warning, "no"),
        ("max-attempts-octal", Code::InvalidValue, Severity::Error, "012"),
        // A broken condition that skips everything, or runs everything.
        ("condition-unknown", Code::UnknownCondition, Severity::Error, "story.ui_tru"),
        ("condition-trailing", Code::InvalidCondition, Severity::Error, "story.ui_true"),
        // A key that looks like a gate was ignored, and the run continued without approval.
        ("gate-approval", Code::MisplacedField, Severity::Error, "approval"),
        ("gate-typo", Code::MisplacedField, Severity::Error, "gaet"),
    ];
    let all = fixtures();
    for (name, code, severity, at) in rows {
        let (_, bytes, context) = all.iter().find(|(path, ..)| path.file_stem().unwrap() == name).unwrap();
        let checked = check_bytes(bytes, context);
        let told = checked.diagnostics.iter().any(|found| {
            (found.code, found.severity, checked.source.slice(found.span)) == (code, severity, at)
        });
        assert!(told, "{name}: {:#?}", checked.diagnostics);
    }
}
