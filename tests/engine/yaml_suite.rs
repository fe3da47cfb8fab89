//! The official test suite of YAML (yaml/yaml-test-suite), if `YAML_TEST_SUITE` is a copy of its repository. Valid YAML of
//! the suite is read without a syntax error, and invalid YAML is refused.

use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use superpower::check::{Context, check};
use superpower::diagnostic::{Code, Severity};

/// The suite shows white space by other characters.
fn unescaped(text: &str) -> String {
    let mut text = text.replace('␣', " ").replace('»', "\t").replace('←', "\r").replace('⇔', "\u{feff}");
    text.retain(|c| c != '—' && c != '↵');
    if text.ends_with("∎\n") {
        text.truncate(text.len() - "∎\n".len());
    }
    text
}

#[test]
#[ignore = "needs a copy of the suite: YAML_TEST_SUITE names its folder"]
fn the_suite_is_read_as_it_says() {
    let Some(suite) = std::env::var_os("YAML_TEST_SUITE").map(PathBuf::from) else {
        panic!("YAML_TEST_SUITE must name the folder of yaml/yaml-test-suite");
    };
    let mut files: Vec<PathBuf> =
        fs::read_dir(suite.join("src")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let (mut wrong, mut agreed, mut several) = (Vec::new(), 0, 0);
    for path in files {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let cases: Vec<Value> = serde_yaml::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let mut fails = false;
        for (at, case) in cases.iter().enumerate() {
            // A case inherits missing fields from the case before.
            fails = case["fail"].as_bool().unwrap_or(at > 0 && case.get("yaml").is_none() && fails);
            let Some(yaml) = case["yaml"].as_str().map(unescaped) else { continue };
            let checked = check(&yaml, &Context::default());
            let found = checked
                .diagnostics
                .iter()
                .filter(|it| it.code == Code::YamlSyntax && it.severity == Severity::Error);
            let mut found: Vec<&str> = found.map(|it| it.message.as_str()).collect();
            if found.iter().any(|message| message.starts_with("a second document")) {
                several += 1;
                continue;
            }
            // Refused by our own rule, not by YAML's.
            found.retain(|message| !message.ends_with("no anchor before it has this name"));
            if found.is_empty() == fails {
                wrong.push(format!("{name}-{at:02} fails: {fails}, found {found:?}\n{yaml}"));
            } else {
                agreed += 1;
            }
        }
    }
    assert!(agreed > 300, "{agreed} cases");
    assert!(wrong.is_empty(), "{agreed} agreed, {several} are several documents\n{}", wrong.join("\n"));
}
