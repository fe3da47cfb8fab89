//! What an editor offers at a place. `¦` in a text is the cursor.

use std::path::PathBuf;
use superpower::assist::{
    Completion, FactNow, Kind, Location, Project, Verdict, Worker, actions, complete, definition, hints,
    hover, prepare_rename, references, rename, symbols,
};
use superpower::check::{Checked, Context, check};
use superpower::diagnostic::Edit;
use superpower::source::Span;

const FLOW: &str = "name: flow
description: One line
version: \"1.0.0\"
inputs:
  - name: scope
    type: enum
    enum: [full, tokens only]
    default: full
    description: How much
  - name: epic
    required: true
stages:
  - name: plan
    agent: spec-kit
    description: \"Plan {{epic}}\"
    inputs: {epic: \"{{ epic }}\", note: 'for {{scope}}'}
  - name: build
    skill: scaffold
    when: \"{{scope}} == full && story.ui_true\"
    depends_on: [plan]
    description: |
      After {{stages.plan.result}}
      and {{stages.1.result}}
    gate: human-approval
    rework: plan
";

fn project() -> Project {
    let worker = |name: &str, description: &str| Worker {
        name: name.to_owned(),
        description: description.to_owned(),
        path: PathBuf::from(format!("/p/{name}.md")),
        faults: Vec::new(),
    };
    Project {
        stem: Some("flow".to_owned()),
        agents: vec![
            worker("spec-kit", "Writes specs\nand stories"),
            worker("orchestrator", ""),
            worker("on", ""),
        ],
        skills: vec![worker("scaffold", "Makes files")],
        facts: vec![
            FactNow {
                name: "story.ui_true".to_owned(),
                now: Some((true, "docs/a.md has ui: true".to_owned())),
            },
            FactNow { name: "story.has_api".to_owned(), now: None },
        ],
        harnesses: vec!["mine".to_owned()],
    }
}

fn checked(text: &str) -> Checked {
    check(text, &Context::default())
}

/// A text without its cursor, and where that was.
fn cursor(text: &str) -> (String, usize) {
    let at = text.find('¦').expect("a cursor");
    (text.replace('¦', ""), at)
}

/// The flow with `find` replaced, and the cursor in it.
fn edited(find: &str, with: &str) -> (String, usize) {
    assert!(FLOW.contains(find), "{find}");
    cursor(&FLOW.replacen(find, with, 1))
}

fn offered(text: &str, at: usize) -> Vec<Completion> {
    complete(&checked(text), at, &project())
}

fn labels((text, at): (String, usize)) -> Vec<String> {
    offered(&text, at).into_iter().map(|offer| offer.label).collect()
}

/// The line with the cursor once the completion of this label is taken.
fn taken((text, at): (String, usize), label: &str) -> String {
    let all = offered(&text, at);
    let offer =
        all.iter().find(|offer| offer.label == label).unwrap_or_else(|| panic!("{label} is not in {all:#?}"));
    let after = apply(&text, std::slice::from_ref(&offer.edit));
    let start = after[..offer.edit.span.start].rfind('\n').map_or(0, |at| at + 1);
    after[start..].lines().next().unwrap().trim_start().to_owned()
}

fn apply(text: &str, edits: &[Edit]) -> String {
    let mut edits = edits.to_vec();
    edits.sort_by_key(|edit| std::cmp::Reverse(edit.span));
    let mut text = text.to_owned();
    for edit in edits {
        text.replace_range(edit.span.start..edit.span.end, &edit.text);
    }
    text
}

#[test]
fn keys_complete_where_they_are_allowed_and_missing() {
    assert_eq!(labels(cursor("¦")), ["name", "description", "version", "tags", "inputs", "stages"]);
    assert_eq!(labels(edited("description: One line", "¦")), ["description", "tags"]);
    let stage = labels(edited("    depends_on: [plan]\n", "    ¦\n"));
    assert_eq!(stage, ["inputs", "depends_on", "harness", "timeout", "max_attempts", "expects"]);
    assert_eq!(labels(edited("    gate: human-approval\n", "    expects:\n      ¦\n")), ["files", "verdict"]);
    assert_eq!(
        labels(edited("    required: true", "    ¦")),
        ["type", "required", "description", "default", "enum"]
    );
    assert_eq!(labels(cursor("stages:\n  - ¦")).first().unwrap(), "name");
    assert_eq!(taken(cursor("na¦"), "name"), "name: ");
    assert_eq!(
        taken(cursor("stages:\n  - ag¦ent: x"), "agent"),
        "- agentent: x",
        "what is behind the cursor stays"
    );
    assert_eq!(taken(cursor("stages:\n  - ¦: x"), "agent"), "- agent: x");
    assert_eq!(taken(cursor("stages:\n  - {agent: a, g¦}"), "gate"), "- {agent: a, gate: }");
    assert_eq!(
        labels(cursor("stages:\n  - {\n    agent: a,\n    ¦\n    gate: auto}")),
        [
            "name",
            "description",
            "when",
            "inputs",
            "depends_on",
            "rework",
            "harness",
            "timeout",
            "max_attempts",
            "expects"
        ]
    );
}

#[test]
fn an_item_gets_its_dash() {
    let first = labels(cursor("stages:\n  ¦"));
    assert_eq!(&first[..2], ["name", "agent"]);
    assert_eq!(taken(cursor("stages:\n  ¦"), "agent"), "- agent: ");
    assert_eq!(taken(cursor("stages:\n  - agent: a\n    gate: auto\n\n  sk¦\n"), "skill"), "- skill: ");
    assert_eq!(taken(cursor("stages:\n- agent: a\n¦\n"), "tags"), "tags: ", "a key of the whole");
    assert_eq!(taken(cursor("stages:\n- agent: a\n  ga¦\n"), "gate"), "gate: ");
    assert_eq!(taken(cursor("inputs:\n  - name: a\n  ¦\nstages: []\n"), "name"), "- name: ");
    assert_eq!(taken(cursor("stages:\n  - agent: a\n    expects:\n      ¦"), "files"), "files: ");
}

#[test]
fn values_complete_from_the_table_and_the_project() {
    assert_eq!(labels(edited("gate: human-approval", "gate: ¦")), ["human-approval", "auto"]);
    assert_eq!(labels(edited("agent: spec-kit", "agent: sp¦")), ["spec-kit", "orchestrator", "on"]);
    assert_eq!(taken(edited("agent: spec-kit", "agent: ¦"), "on"), "agent: \"on\"");
    assert_eq!(labels(edited("skill: scaffold", "skill: ¦")), ["scaffold"]);
    assert_eq!(labels(edited("skill: scaffold", "pipeline: s¦")), ["standard-8-phase", "standard"]);
    assert_eq!(labels(edited("type: enum", "type: ¦")), ["string", "bool", "enum"]);
    assert_eq!(labels(edited("required: true", "required: ¦")), ["true", "false"]);
    assert_eq!(labels(edited("default: full", "default: ¦")), ["full", "tokens only"]);
    assert_eq!(labels(edited("rework: plan", "rework: ¦")), ["plan"]);
    assert_eq!(labels(edited("depends_on: [plan]", "depends_on: [¦]")), ["plan"]);
    assert_eq!(taken(edited("depends_on: [plan]", "depends_on: ¦"), "plan"), "depends_on: [plan]");
    assert_eq!(taken(edited("name: flow", "name: ¦"), "flow"), "name: flow");
    assert_eq!(taken(edited("version: \"1.0.0\"", "version: ¦"), "1.0.0"), "version: \"1.0.0\"");
    assert!(labels(edited("rework: plan", "harness: ¦")).contains(&"mine".to_owned()));
    assert_eq!(
        labels(edited("    inputs: {epic", "    inputs:\n      ¦\n    x-y: {epic")),
        ["scope", "epic"]
    );
}

#[test]
fn inputs_of_a_stage_complete_from_those_of_the_run() {
    let (text, at) = edited("    inputs: {epic", "    inputs:\n      slug: ¦\n    x-y: {epic");
    assert_eq!(labels(edited("note: 'for", "¦ note: 'for")), ["scope"]);
    assert_eq!(labels((text.clone(), at)), ["{{scope}}", "{{epic}}"]);
    assert_eq!(taken((text, at), "{{epic}}"), "slug: \"{{epic}}\"");
}

#[test]
fn variables_complete_after_open_braces() {
    let plan = edited("Plan {{epic}}", "Plan {{¦");
    assert_eq!(labels(plan.clone()), ["scope", "epic"], "nothing runs before the first stage");
    assert_eq!(taken(plan, "epic"), "description: \"Plan {{epic}}\"");
    assert_eq!(taken(edited("Plan {{epic}}", "Plan {{e¦}}"), "epic"), "description: \"Plan {{epic}}\"");
    assert_eq!(taken(edited("\"Plan {{epic}}\"", "{{e¦"), "epic"), "description: \"{{epic}}\"");
    let build = edited("After {{stages.plan.result}}", "After {{st¦");
    assert_eq!(labels(build.clone()), ["scope", "epic", "stages.plan.result"]);
    assert_eq!(taken(build, "stages.plan.result"), "After {{stages.plan.result}}");
    assert_eq!(labels(edited("note: 'for {{scope}}'", "note: 'for {{¦'")), ["scope", "epic"]);
}

#[test]
fn conditions_complete_with_what_can_follow() {
    let when = "when: \"{{scope}} == full && story.ui_true\"";
    assert_eq!(labels(edited(when, "when: \"{{scope}} == ¦\"")), ["full", "tokens only"]);
    assert_eq!(
        taken(edited(when, "when: \"{{scope}} == t¦\""), "tokens only"),
        "when: \"{{scope}} == 'tokens only'\""
    );
    assert_eq!(
        taken(edited(when, "when: '{{scope}} == ¦'"), "tokens only"),
        "when: '{{scope}} == \"tokens only\"'"
    );
    assert_eq!(labels(edited(when, "when: \"{{scope}} ¦\"")), ["==", "!=", "&&", "||"]);
    assert_eq!(labels(edited(when, "when: story.ui_true ¦")), ["&&", "||"]);
    let first = labels(edited(when, "when: ¦"));
    assert_eq!(first[..4], ["story.ui_true", "story.has_api", "identity.tokens_missing", "branch.not_spike"]);
    assert_eq!(taken(edited(when, "when: ¦"), "{{scope}} == full"), "when: \"{{scope}} == full\"");
    assert_eq!(
        taken(edited(when, "when: always && ¦"), "{{scope}} == full"),
        "when: always && {{scope}} == full"
    );
    assert_eq!(labels(edited(when, "when: \"{{s¦\"")), ["scope", "epic"], "no results in conditions");
    let (text, at) = edited(when, "when: st¦");
    let offers = offered(&text, at);
    let fact = offers.iter().find(|offer| offer.label == "story.ui_true").unwrap();
    assert_eq!((fact.kind, fact.detail.as_str()), (Kind::Fact, "now true"));
    assert!(fact.documentation.contains("docs/a.md has ui: true"));
}

/// The text under the hover's span, and what it says.
fn said((text, at): (String, usize)) -> (String, String) {
    let checked = checked(&text);
    let hover = hover(&checked, at, &project()).unwrap_or_else(|| panic!("nothing is said at {at}"));
    (checked.source.slice(hover.span).to_owned(), hover.text)
}

#[test]
fn hover_explains_keys_and_names() {
    let (at, text) = said(edited("    rework: plan", "    rew¦ork: plan"));
    assert!(at == "rework" && text.contains("goes back to"), "{text}");
    let (at, text) = said(edited("spec-kit", "spec¦-kit"));
    assert!(at == "spec-kit" && text.contains("Writes specs") && text.contains("/p/spec-kit.md"), "{text}");
    let (at, text) = said(edited("Plan {{epic}}", "Plan {{ep¦ic}}"));
    assert!(at == "epic" && text.contains("required"), "{text}");
    let (at, text) = said(edited("{{scope}} ==", "{{¦scope}} =="));
    assert!(at == "scope" && text.contains("`tokens only`") && text.contains("How much"), "{text}");
    let (at, text) = said(edited("&& story.ui_true", "&& story.¦ui_true"));
    assert!(at == "story.ui_true" && text.contains("now true: docs/a.md has ui: true"), "{text}");
    let (at, text) = said(edited("rework: plan", "rework: pl¦an"));
    assert!(at == "plan" && text.contains("**stage 1** · agent spec-kit"), "{text}");
    let (at, text) = said(edited("stages.1.result", "stages.¦1.result"));
    assert!(at == "1" && text.contains("stage 1"), "{text}");
    let (at, text) = said(edited("human-approval", "human-¦approval"));
    assert!(at == "human-approval" && text.contains("waits"), "{text}");
    let (_, text) = said(edited("agent: spec-kit", "agent: a:¦b"));
    assert!(text.contains("belongs to a plugin"), "{text}");
    let nothing = edited("One line", "One ¦line");
    assert_eq!(hover(&checked(&nothing.0), nothing.1, &project()), None);
}

#[test]
fn definitions_are_found_in_files_and_names() {
    let find = |(text, at): (String, usize)| {
        let checked = checked(&text);
        definition(&checked, at, &project()).map(|location| match location {
            Location::Here(span) => {
                let line = checked.source.position(span.start).line + 1;
                format!("{line}:{}", checked.source.slice(span))
            }
            Location::File(path) => path.display().to_string(),
        })
    };
    assert_eq!(find(edited("spec-kit", "spec¦-kit")).unwrap(), "/p/spec-kit.md");
    assert_eq!(find(edited("skill: scaffold", "pipeline: ¦standard")).unwrap(), "/p/orchestrator.md");
    assert_eq!(find(edited("Plan {{epic}}", "Plan {{ep¦ic}}")).unwrap(), "10:epic");
    assert_eq!(find(edited("rework: plan", "rework: pl¦an")).unwrap(), "13:plan");
    assert_eq!(find(edited("stages.1.result", "stages.¦1.result")).unwrap(), "13:");
    assert_eq!(find(edited("One line", "One ¦line")), None);
}

#[test]
fn a_rename_changes_every_occurrence() {
    let renamed = |(text, at): (String, usize), new: &str| {
        let checked = checked(&text);
        rename(&checked, at, new).map(|edits| apply(&text, &edits))
    };
    let expected = FLOW
        .replace("- name: epic", "- name: big-epic")
        .replace("Plan {{epic}}", "Plan {{big-epic}}")
        .replace("{{ epic }}", "{{ big-epic }}");
    assert_eq!(renamed(edited("{{ epic }}", "{{ epi¦c }}"), "big-epic").unwrap(), expected);
    let expected = FLOW
        .replace("name: plan", "name: think")
        .replace("[plan]", "[think]")
        .replace("rework: plan", "rework: think")
        .replace("stages.plan.result", "stages.think.result");
    for place in [edited("name: plan", "name: ¦plan"), edited("stages.plan", "stages.pla¦n")] {
        assert_eq!(renamed(place, "think").unwrap(), expected);
    }
    assert!(renamed(edited("name: plan", "name: ¦plan"), "build").unwrap_err().contains("already used"));
    assert!(renamed(edited("name: plan", "name: ¦plan"), "Plan It").is_err());
    assert!(renamed(edited("name: scope", "name: ¦scope"), "1st").is_err());
    assert!(renamed(edited("stages.1.result", "stages.¦1.result"), "one").is_err(), "a number is no name");
    let (text, at) = edited("[plan]", "[pl¦an]");
    assert_eq!(prepare_rename(&checked(&text), at).unwrap().1, "plan");
    assert_eq!(references(&checked(&text), at, true).len(), 4);
    assert_eq!(references(&checked(&text), at, false).len(), 3);
}

#[test]
fn a_rename_in_quotes_and_escapes_changes_only_the_name() {
    let text = "name: x\ndescription: d\nversion: '1'\ninputs: [{name: 'a'}]\nstages:\n  - agent: b\n    when: \"\\u007b{a}} == 'q' || '{{a}}' == a\"\n    description: '{{a}} it''s {{ a }}'\n";
    let checked = checked(text);
    assert!(checked.declaration.is_none(), "one side of a comparison is a text with braces");
    let at = text.find("'a'").unwrap() + 1;
    let after = apply(text, &rename(&checked, at, "bb").unwrap());
    assert!(after.contains("{name: 'bb'}") && after.contains("'{{bb}} it''s {{ bb }}'"), "{after}");
}

#[test]
fn the_outline_names_every_stage() {
    let checked = checked(FLOW);
    let all: Vec<String> = symbols(&checked)
        .iter()
        .map(|symbol| {
            format!("{} | {} | {}", symbol.name, symbol.detail, checked.source.slice(symbol.selection))
        })
        .collect();
    assert_eq!(
        all,
        [
            "1. Plan {{epic}} | agent spec-kit | plan",
            "2. After {{stages.plan.result}} | skill scaffold | build"
        ]
    );
}

#[test]
fn fixes_are_offered_at_their_problem() {
    let (text, at) = edited("gate: human-approval", "gate: human¦_approval");
    let checked = checked(&text);
    let all = actions(&checked, Span::new(at, at));
    assert_eq!(all.len(), 1);
    assert_eq!(all[0].title, "change to \"human-approval\"");
    assert_eq!(apply(&text, &all[0].edits), FLOW);
    assert!(actions(&checked, Span::new(0, 3)).is_empty());
}

#[test]
fn hints_are_shown_after_the_first_line_of_a_stage() {
    let text = FLOW.replace('\n', "\r\n");
    let checked = checked(&text);
    let verdict =
        Verdict { stage: 1, label: "would skip".to_owned(), why: "story.ui_true → no".to_owned() };
    let found = hints(&checked, &[verdict, Verdict { stage: 9, label: String::new(), why: String::new() }]);
    assert_eq!(found.len(), 1);
    assert!(text[..found[0].offset].ends_with("- name: build"));
}

#[test]
fn everything_works_in_a_text_that_is_not_yaml_yet() {
    let (text, at) = edited("    depends_on: [plan]", "    depends_on: [pl¦\n    tags: \"open");
    assert_eq!(labels((text.clone(), at)), ["plan"]);
    let (text, at) = (format!("{text}  - skill: @\n  - gate human-approval\n"), at);
    assert_eq!(labels((text, at)), ["plan"]);
    let (text, at) = edited("when: \"{{scope}} == full && story.ui_true\"", "when: {{sco¦pe}} != full");
    assert_eq!(prepare_rename(&checked(&text), at).unwrap().1, "scope");
}
