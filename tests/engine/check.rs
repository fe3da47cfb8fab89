//! The checker with real declarations, and with single problems at their exact positions.

use crate::world::shared;
use std::path::Path;
use superpower::check::{Context, check, check_bytes};
use superpower::diagnostic::{Code, Severity};

/// The first problem's code, and the text at its position.
fn only(text: &str) -> (Code, String, String) {
    let checked = check(text, &Context::default());
    assert_eq!(checked.diagnostics.len(), 1, "{:#?}", checked.diagnostics);
    let found = &checked.diagnostics[0];
    (found.code, checked.source.slice(found.span).to_owned(), found.message.clone())
}

fn with_stage(stage: &str) -> String {
    format!("name: x\ndescription: d\nversion: \"1.0\"\nstages:\n  - agent: first\n  - {stage}\n")
}

/// Checks every declaration in the directory, and returns their number.
fn sound(folder: &Path) -> usize {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|it| it == "yaml"));
    files
        .filter(|path| !path.ends_with("schema.yaml"))
        .map(|path| {
            let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
            let context = Context { stem: Some(stem), ..Context::default() };
            let checked = check_bytes(&std::fs::read(&path).unwrap(), &context);
            let bad: Vec<_> = checked.diagnostics.iter().filter(|d| d.severity != Severity::Hint).collect();
            assert!(bad.is_empty(), "{}: {bad:#?}", path.display());
            assert!(checked.declaration.is_some());
        })
        .count()
}

#[test]
fn the_shops_declarations_have_no_problems() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/shop/.claude/superpowers");
    assert_eq!(sound(&folder), 4);
}

#[test]
#[cfg_attr(not(shared), ignore = "what others wrote is not beside the repository")]
fn other_peoples_declarations_have_no_fault() {
    assert_eq!(sound(&shared("superpowers")) + sound(&shared("taffy")), 9);
}

#[test]
fn a_problem_has_its_exact_position() {
    assert_eq!(
        only(&with_stage("gate: human_approval")),
        (
            Code::UnknownGate,
            "human_approval".to_owned(),
            "unknown gate \"human_approval\" (did you mean \"human-approval\"?)".to_owned()
        )
    );
    assert_eq!(only(&with_stage("agent: b\n    when: 'a''s'")).0, Code::InvalidCondition);
    assert_eq!(only(&with_stage("agent: b\n    when: \"!story.ui_tru\"")).1, "story.ui_tru");
    assert_eq!(
        only(&with_stage("agent: b\n    when: |\n      always ||\n      story.ui_tru")).1,
        "story.ui_tru"
    );
    assert_eq!(only(&with_stage("agent: b\n    when: >\n      always ||\n      {{ x }}")).1, "{{ x }}");
    assert_eq!(only(&with_stage("agent: b\n    inputs:\n      a: \"\\u00e9 {{x}}\"")).1, "{{x}}");
    assert_eq!(only(&with_stage("agent: b\n    when: true")).1, "true");
}

#[test]
fn a_numeric_version_is_fixed_with_quotes() {
    let text = "name: x\ndescription: d\nversion: 1.10\nstages: [{agent: a}]\n";
    let checked = check(text, &Context::default());
    let found = &checked.diagnostics[0];
    assert_eq!((found.code, checked.source.slice(found.span)), (Code::WrongType, "1.10"));
    assert_eq!(found.fix.as_ref().unwrap().edits[0].text, "\"1.10\"");
}

#[test]
fn lines_name_file_position_path_and_problem() {
    let checked = check(&with_stage("gate: human_approval"), &Context::default());
    assert_eq!(
        checked.lines("x.yaml"),
        ["x.yaml:6:11: stages[2].gate: unknown gate \"human_approval\" (did you mean \"human-approval\"?)"]
    );
}

#[test]
fn hostile_files_give_short_reports() {
    let size = 1 << 17;
    let stage = "  - agent: a\n    when: '{{aaaaaaaaaaaaab}}'\n    wen: y\n";
    let inputs = format!("inputs:\n{}", "  - name: aaaaaaaaaaaaa\n".repeat(999));
    let all = [
        "[".repeat(size),
        "- ".repeat(size / 2),
        "a: b: c\n".repeat(size / 8),
        "a: \"x\n".repeat(size / 6),
        "a: [b\n".repeat(size / 6),
        "\t- a\n".repeat(size / 5),
        format!("x: &a [1]\n{}", "y: *a\n".repeat(size / 7)),
        format!("{inputs}stages:\n{}", stage.repeat(size / stage.len())),
        format!("stages:\n  - agent: a\n    when: \"{}a\"\n", "!ab&&".repeat(size / 5)),
        format!("a: {}", ": ".repeat(size / 2)),
        "\0".repeat(size),
    ];
    for text in all {
        let start = std::time::Instant::now();
        let checked = check(&text, &Context::default());
        let shown: String = text.chars().take(20).collect();
        assert!(checked.declaration.is_none(), "{shown:?}");
        assert!(checked.diagnostics.len() < 1_000, "{shown:?}: {}", checked.diagnostics.len());
        // A release build needs a twentieth of this. A quadratic algorithm would need many times as long.
        assert!(start.elapsed().as_secs() < 10, "{shown:?}: {:?}", start.elapsed());
    }
}

#[test]
fn a_file_beyond_a_limit_says_which() {
    let only_limit = |text: &str| {
        let checked = check(text, &Context::default());
        let codes: Vec<Code> = checked.diagnostics.iter().map(|found| found.code).collect();
        assert!(codes.contains(&Code::Limit) && checked.declaration.is_none(), "{codes:?}");
        checked.diagnostics.iter().find(|found| found.code == Code::Limit).unwrap().message.clone()
    };
    let head = "name: x\ndescription: d\nversion: \"1.0.0\"\n";
    assert!(only_limit(&format!("# {}", "x".repeat(1 << 20))).contains("at most 1048576"));
    assert!(
        only_limit(&format!("{head}stages:\n{}", "  - agent: a\n".repeat(10_001)))
            .starts_with("too many stages: 10001")
    );
    assert!(only_limit(&format!("{head}x-a:\n{}", "- a\n".repeat(100_001))).starts_with("more than 100000"));
    let most = format!("{head}stages:\n{}", "  - agent: a\n".repeat(10_000));
    assert!(check(&most, &Context::default()).declaration.is_some());
}

/// In brackets a colon needs a space after it, or the value belongs to the key. An unusual space character does not count.
#[test]
fn a_colon_in_brackets_without_a_space_is_named_and_mended() {
    let stage = |stage: &str| {
        format!("name: x\ndescription: d\nversion: \"1.0\"\nstages: [{{agent: first}}, {stage}]\n")
    };
    for (written, right, at) in [
        ("{agent:b}", "{agent: b}", "agent:"),
        ("{agent:\u{a0}b}", "{agent: b}", "\u{a0}"),
        ("{agent :b}", "{agent : b}", "agent :"),
        ("{agent: b, inputs: {epic:x}}", "{agent: b, inputs: {epic: x}}", "epic:"),
        ("{agent: b, inputs: {epic:\u{3000}x}}", "{agent: b, inputs: {epic: x}}", "\u{3000}"),
        ("{agent: b, inputs: {url:http://localhost}}", "{agent: b, inputs: {url: http://localhost}}", "url:"),
        ("{agent: b, expects: {verdict:PASS}}", "{agent: b, expects: {verdict: PASS}}", "verdict:"),
        ("{gate:human-approval}", "{gate: human-approval}", "gate:"),
    ] {
        let checked = check(&stage(written), &Context::default());
        let faults: Vec<_> = checked.diagnostics.iter().filter(|it| it.severity == Severity::Error).collect();
        assert_eq!(faults.len(), 1, "{written}: {faults:#?}");
        assert_eq!(
            (faults[0].code, checked.source.slice(faults[0].span)),
            (Code::YamlSyntax, at),
            "{written}"
        );
        let fix = faults[0].fix.as_ref().unwrap();
        let mut mended = stage(written);
        for edit in fix.edits.iter().rev() {
            mended.replace_range(edit.span.start..edit.span.end, &edit.text);
        }
        assert_eq!(mended, stage(right), "{written}");
        assert!(check(&mended, &Context::default()).declaration.is_some(), "{written}");
    }
    for sound in [
        "{agent: b, inputs: {http://localhost}}",
        "{agent: b, description: a:b}",
        "{agent: b, expects: {files: [a:b]}}",
        "{agent: b, x-mine: {a:b}}",
        "{agent: b, x-mine: [{a:b}, {x-c: {d:e}}], x-d: {e:f}}",
        "{\"agent\":b}",
        "{agent: b, inputs: {\"a:b\": c}}",
    ] {
        let checked = check(&stage(sound), &Context::default());
        let faults: Vec<_> = checked.diagnostics.iter().filter(|it| it.code == Code::YamlSyntax).collect();
        assert!(faults.is_empty(), "{sound}: {faults:#?}");
    }
}

/// At any position, with any value.
#[test]
fn a_merge_key_is_named_everywhere() {
    for stage in [
        "agent: b\n    <<: {}",
        "agent: b\n    <<: {a: b}",
        "agent: b\n    <<: []",
        "agent: b\n    <<:",
        "agent: b\n    inputs: {<<: {}}",
        "agent: b\n    inputs:\n      <<: x",
        "agent: b\n    inputs:\n      <<:",
        "agent: b\n    expects: {<<: {}}",
    ] {
        let checked = check(&with_stage(stage), &Context::default());
        let faults: Vec<_> = checked.diagnostics.iter().filter(|it| it.severity == Severity::Error).collect();
        assert_eq!(faults.len(), 1, "{stage}: {faults:#?}");
        assert_eq!(faults[0].code, Code::MisplacedField, "{stage}");
        assert!(faults[0].message.contains("merge keys (\"<<\")"), "{stage}: {}", faults[0].message);
    }
}
