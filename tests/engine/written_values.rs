//! A value that a fix, a completion, a rename or a scaffold writes is read back as the same value.

use crate::check_fixtures::apply;
use proptest::prelude::*;
use superpower::assist::{Kind, Project, Worker, complete, rename, scaffold};
use superpower::check::{Checked, Context, check};
use superpower::declaration::yaml_writer::{inside, plain_or_quoted, quoted};
use superpower::diagnostic::{Edit, Fix, Severity};

/// Pieces with a meaning in YAML or to other parsers of it, and others.
const PIECES: &[&str] = &[
    ": ",
    ":",
    " #",
    "#",
    "\"",
    "'",
    "\\",
    "\n",
    "\r\n",
    "\t",
    "yes",
    "no",
    "on",
    "null",
    "~",
    "true",
    "1e3",
    "0x1f",
    "012",
    "12:30",
    "2024-01-01",
    ".5",
    "-",
    "- ",
    "?",
    "? ",
    "&",
    "*",
    "!",
    "!!str ",
    "%",
    "@",
    "`",
    "|",
    ">",
    "{",
    "}",
    "[",
    "]",
    ",",
    ", ",
    " ",
    "  ",
    "---",
    "...",
    "<<",
    "=",
    "{{x}}",
    "\u{0}",
    "\u{1}",
    "\u{7}",
    "\u{1b}",
    "\u{7f}",
    "\u{85}",
    "\u{9b}",
    "\u{a0}",
    "\u{ad}",
    "\u{200b}",
    "\u{2028}",
    "\u{2029}",
    "\u{feff}",
    "\u{fffe}",
    "\u{ffff}",
    "é",
    "日本",
    "🎉",
    "a",
    "b",
    "word ",
];

fn values() -> impl Strategy<Value = String> {
    let pieces = prop::collection::vec(prop::sample::select(PIECES), 0..6).prop_map(|all| all.concat());
    let long = "[a-z: #'\"]{200,400}";
    prop_oneof![8 => pieces, 1 => long, 2 => any::<String>()]
}

fn read(text: &str) -> Checked {
    check(text, &Context::default())
}

/// Reads the values of `description`, of an item of `tags`, and of a stage's input, with `written` in each place.
fn meant(written: &str) -> [Option<String>; 4] {
    let text = format!(
        "name: x\ndescription: {written}\ntags: [{written}, b]\nversion: \"1.0.0\"\nstages:\n  - agent: a\n    \
         inputs: {{k: {written}, l: b}}\n    depends_on:\n      - {written}\n"
    );
    let draft = read(&text).draft;
    let stage = draft.stages.first();
    let other: Option<serde_yaml::Value> = serde_yaml::from_str(&text).ok();
    [
        draft.description.map(|text| text.value),
        stage.and_then(|stage| Some(stage.inputs.first()?.1.value.clone())),
        stage.and_then(|stage| Some(stage.depends_on.first()?.value.clone())),
        other.and_then(|all| all["tags"][0].as_str().map(str::to_owned)),
    ]
}

fn everywhere(value: &str) -> [Option<String>; 4] {
    std::array::from_fn(|_| Some(value.to_owned()))
}

proptest! {
    #[test]
    fn a_written_value_reads_back_in_lines_and_in_brackets(value in values()) {
        prop_assert_eq!(meant(&quoted(&value)), everywhere(&value), "{}", quoted(&value));
        prop_assert_eq!(meant(&plain_or_quoted(&value)), everywhere(&value), "{}", plain_or_quoted(&value));
        prop_assert!(!quoted(&value).contains('\n') && !plain_or_quoted(&value).contains('\n'));
        for quote in ['"', '\''] {
            if let Some(inner) = inside(&value, quote) {
                prop_assert_eq!(meant(&format!("{quote}{inner}{quote}")), everywhere(&value), "{}", inner);
            }
        }
    }

    /// The nearest known value replaces an unknown one: the default of an enum, an agent, a word of a condition.
    #[test]
    fn a_fix_inserts_exactly_the_suggested_value(value in values(), style in 0..5_usize) {
        let typo = "wordd-for-word";
        let near = format!("word-{value}for-word");
        let known = quoted(&near);
        let condition = [
            format!("when: always && {{{{scope}}}} == {typo}"),
            format!("when: \"{{{{scope}}}} == '{typo}'\""),
            format!("when: '{{{{scope}}}} == \"{typo}\"'"),
            format!("when: |\n      {{{{scope}}}} == '{typo}'"),
            format!("when: always && {{{{scope}}}} == \"{typo}\""),
        ];
        let text = format!(
            "name: x\ndescription: d\nversion: \"1.0.0\"\ninputs:\n  - name: scope\n    type: enum\n    \
             enum: [{known}, other]\n    default: {typo}\nstages:\n  - agent: {typo}\n    {}\n    name: last\n",
            condition[style]
        );
        let context = Context { agents: Some(vec![near.clone()]), ..Context::default() };
        let checked = check(&text, &context);
        for diagnostic in &checked.diagnostics {
            let Some(fix) = diagnostic.fix.as_ref().filter(|fix| fix.title.contains(&near)) else { continue };
            let after = apply(&text, fix);
            let draft = check(&after, &context).draft;
            let values = [
                draft.inputs[0].default.as_ref().map(|text| text.value.clone()),
                draft.stages[0].actions.first().map(|(_, text)| text.value.clone()),
            ];
            let in_condition = diagnostic.path.ends_with("when");
            prop_assert!(in_condition || values.contains(&Some(near.clone())), "{}\n{}", diagnostic.message, after);
            prop_assert_eq!(draft.stages[0].name.as_ref().map(|text| &*text.value), Some("last"), "{}", after);
            let still = check(&after, &context).diagnostics;
            prop_assert!(!still.iter().any(|it| it.path == diagnostic.path && it.code == diagnostic.code), "{}", after);
        }
    }

    #[test]
    fn a_completed_agent_reads_back_with_and_without_quotes(name in values(), style in 0..3_usize) {
        let before = ["agent: ¦", "agent: \"¦\"", "agent: '¦'"][style];
        let text = format!("name: x\ndescription: d\nversion: \"1.0.0\"\nstages:\n  - {before}\n    name: last\n");
        let at = text.find('¦').unwrap();
        let text = text.replace('¦', "");
        let worker = Worker { name: name.clone(), ..Worker::default() };
        let project = Project { agents: vec![worker], ..Project::default() };
        let checked = read(&text);
        let offers = complete(&checked, at, &project);
        let offer = offers.iter().find(|offer| offer.kind == Kind::Agent && offer.label == name).unwrap();
        let holds = style != 2 || inside(&name, '\'').is_some();
        let after = apply(&text, &Fix { title: String::new(), edits: vec![offer.edit.clone()] });
        let draft = read(&after).draft;
        prop_assert!(!holds || draft.stages[0].actions[0].1.value == name, "{}", after);
    }
}

/// Valid names that YAML reads as another type without quotes.
const WORDS: [&str; 9] = ["null", "true", "false", "yes", "no", "on", "y", "1e3", "0x1f"];

fn errors(checked: &Checked) -> Vec<&str> {
    let errors = checked.diagnostics.iter().filter(|it| it.severity == Severity::Error);
    errors.map(|it| it.message.as_str()).collect()
}

fn edited(text: &str, edits: Vec<Edit>) -> String {
    apply(text, &Fix { title: String::new(), edits })
}

#[test]
fn a_stage_renamed_to_a_special_yaml_word_is_quoted() {
    let text = "name: x\ndescription: d\nversion: \"1.0.0\"\nstages:\n  - {agent: a, name: plan}\n  - agent: b\n    \
                depends_on: [plan]\n    description: After {{stages.plan.result}}\n    gate: human-approval\n    \
                rework: 'plan'\n";
    for word in WORDS {
        let edits = rename(&read(text), text.find("plan").unwrap(), word).unwrap();
        let after = edited(text, edits);
        let checked = read(&after);
        assert_eq!(errors(&checked), [""; 0], "{after}");
        let stages = &checked.draft.stages;
        let names = [&stages[0].name, &stages[1].rework].map(|text| text.as_ref().unwrap().value.as_str());
        assert_eq!((names, &*stages[1].depends_on[0].value), ([word; 2], word), "{after}");
    }
    for word in WORDS.into_iter().filter(|word| word.len() > 2) {
        let typo = format!("{word}x");
        let text = format!(
            "name: x\ndescription: d\nversion: \"1.0.0\"\nstages:\n  - {{agent: a, name: \"{word}\"}}\n  - agent: b\n    \
             depends_on: [{typo}]\n    gate: human-approval\n    rework: {typo}\n"
        );
        let checked = read(&text);
        let fixes: Vec<_> = checked.diagnostics.iter().filter_map(|it| it.fix.clone()).collect();
        assert_eq!(fixes.len(), 2, "{text}: {:?}", errors(&checked));
        let after = edited(&text, fixes.into_iter().flat_map(|fix| fix.edits).collect());
        assert_eq!(errors(&read(&after)), [""; 0], "{after}");
    }
}

#[test]
fn an_input_renamed_to_a_special_yaml_word_is_quoted() {
    let text = "name: x\ndescription: d\nversion: \"1.0.0\"\ninputs:\n  - name: epic\nstages:\n  - agent: a\n    \
                description: Plan {{epic}}\n    inputs: {k: \"{{ epic }}\"}\n";
    for word in ["null", "true", "yes", "No", "on", "y", "NULL"] {
        let after = edited(text, rename(&read(text), text.find("epic").unwrap(), word).unwrap());
        let checked = read(&after);
        assert!(
            errors(&checked).iter().all(|it| it.contains("\"on\"") && word == "on"),
            "{after} {:?}",
            errors(&checked)
        );
        assert_eq!(checked.draft.inputs[0].name.as_ref().unwrap().value, word);
    }
}

#[test]
fn a_text_turned_into_a_list_keeps_its_value() {
    for (written, meant) in [
        ("a", vec!["a"]),
        ("a, b", vec!["a", "b"]),
        ("a{b", vec!["a{b"]),
        ("a]", vec!["a]"]),
        ("5", vec!["5"]),
        ("\"a, b\"", vec!["a, b"]),
    ] {
        let text =
            format!("name: x\ndescription: d\ntags: {written}\nversion: \"1.0.0\"\nstages:\n  - agent: a\n");
        let checked = read(&text);
        let fix = checked.diagnostics.iter().find_map(|it| it.fix.as_ref()).unwrap();
        let after = apply(&text, fix);
        assert_eq!(errors(&read(&after)), [""; 0], "{after}");
        let all: serde_yaml::Value = serde_yaml::from_str(&after).unwrap();
        assert_eq!(all["tags"], serde_yaml::to_value(meant).unwrap(), "{after}");
    }
}

#[test]
fn a_scaffold_quotes_its_name_if_yaml_needs_it() {
    let template = "# why\nname: old  # theirs\ndescription: d\nversion: \"1.0.0\"\nstages:\n  - agent: a\n";
    assert_eq!(scaffold(template, "my-own"), template.replace("name: old", "name: my-own"));
    for word in WORDS.into_iter().chain(["123"]) {
        let text = scaffold(template, word);
        let context = Context { stem: Some(word.to_owned()), ..Context::default() };
        let checked = check(&text, &context);
        assert_eq!(errors(&checked), [""; 0], "{text}");
        assert_eq!(checked.declaration.unwrap().name.value, word);
    }
    assert_eq!(scaffold("# no name\n", "x"), "# no name\n");
}
