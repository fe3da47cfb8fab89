//! Every branch of the real declarations as a table: declaration, inputs and facts → the exact log lines.
//!
//! Facts are files of a project, agents are scripts that pass, every gate is approved. The tables are snapshots:
//! `tests/engine/snapshots/engine__branches__*.snap`, which `INSTA_UPDATE=always` rewrites.

use crate::stage::{Stage, over};
use crate::world::shared;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use superpower::check::{self, Context};
use superpower::condition::facts_in;
use superpower::declaration::model::{Declaration, InputKind};
use superpower::harness::Step;
use superpower::outcome::Outcome;
use superpower::plan::Inputs;
use superpower::run::event::{Decision, Event};

/// Facts by name, as files of a project.
type Facts = BTreeMap<String, bool>;

/// Creates or removes files so that the facts have these values.
fn arrange(stage: &Stage, facts: &Facts) {
    let write = |inner: &str, text: &str| {
        let path = stage.root().join(inner);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let is = |fact: &str| facts.get(fact).copied().unwrap_or(false);
    if !is("identity.tokens_missing") {
        write("docs/design/identity/tokens.json", "{}");
    }
    write(
        "docs/stories/auth/reset-1/Story.md",
        &format!("---\nepic: user-auth\nui: {}\n---\n", is("story.ui_true")),
    );
    let branch = if is("branch.not_spike") { "main" } else { "spike/x" };
    write(".git/HEAD", &format!("ref: refs/heads/{branch}\n"));
}

/// All combinations of one value from each list.
fn choices(of: Vec<(String, Vec<String>)>) -> Vec<BTreeMap<String, String>> {
    of.into_iter().fold(vec![BTreeMap::new()], |all, (name, values)| {
        let extended = |one: BTreeMap<String, String>| {
            values
                .iter()
                .map({
                    let name = name.clone();
                    move |value| {
                        let mut one = one.clone();
                        one.insert(name.clone(), value.clone());
                        one
                    }
                })
                .collect::<Vec<_>>()
        };
        all.into_iter().flat_map(extended).collect()
    })
}

/// The inputs to try: the required ones, and each value of an input that a condition uses.
fn inputs(declaration: &Declaration) -> Vec<Inputs> {
    let conditions: Vec<String> = declaration
        .stages
        .iter()
        .filter_map(|stage| stage.when.as_ref().map(|when| when.value.to_string()))
        .collect();
    let asked = |name: &str| conditions.iter().any(|when| when.contains(&format!("{{{{{name}}}}}")));
    let values = declaration.inputs.iter().filter_map(|input| {
        let name = input.name.value.clone();
        let values = match &input.kind {
            InputKind::Enum(values) if asked(&name) => {
                values.iter().map(|value| value.value.clone()).collect()
            }
            InputKind::Bool if asked(&name) => vec!["true".into(), "false".into()],
            InputKind::Enum(values) if input.required => vec![values[0].value.clone()],
            InputKind::Bool if input.required => vec!["true".into()],
            InputKind::String if input.required => vec!["user-auth".into()],
            _ => return None,
        };
        Some((name, values))
    });
    choices(values.collect())
}

fn facts(declaration: &Declaration) -> Vec<Facts> {
    let conditions = declaration.stages.iter().filter_map(|stage| stage.when.as_ref());
    let mut names: Vec<&str> = conditions.flat_map(|when| facts_in(&when.value)).collect();
    names.sort_unstable();
    names.dedup();
    let both = || vec!["true".to_owned(), "false".to_owned()];
    let all = choices(names.into_iter().map(|name| (name.to_owned(), both())).collect());
    all.into_iter()
        .map(|one| one.into_iter().map(|(name, value)| (name, value == "true")).collect())
        .collect()
}

/// Runs one branch to its end, and returns the log.
fn play(text: &str, inputs: &Inputs, facts: &Facts) -> Vec<String> {
    let stage = Stage::new(|launch| {
        // Write the files that the stage expects of its agent.
        let written = launch.prompt.lines().filter_map(|line| line.strip_prefix("- A file that matches `"));
        for glob in written.filter_map(|rest| rest.split('`').next()) {
            let path = launch.root.join(glob.replace("**", "x").replace('*', "x"));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "written\n").unwrap();
        }
        let verdict = launch.prompt.lines().find_map(|line| {
            Some(line.strip_prefix("- The report ends with the line `")?.split('`').next()?.to_owned())
        });
        vec![Step::End(Outcome::Passed, verdict.unwrap_or_else(|| "done".into()))]
    });
    arrange(&stage, facts);
    let handle = stage.start_text(text, &Context::default(), inputs);
    let run_id = handle.run_id.clone();
    let mut picture = over(&handle);
    while picture["state"] != "complete" {
        assert_eq!(picture["reason"], "gate", "{picture:#}");
        let (place, visit) = (&picture["gate"]["stage"], &picture["gate"]["visit"]);
        let decided = Event::GateDecided {
            stage: usize::try_from(place.as_u64().unwrap()).unwrap() - 1,
            visit: u32::try_from(visit.as_u64().unwrap()).unwrap(),
            decision: Decision::Approve,
            comment: String::new(),
            by: "ann".into(),
            digest: None,
            review: None,
            since: Vec::new(),
            how: None,
        };
        picture = over(&stage.take_up(&run_id, vec![decided]).unwrap());
    }
    stage.log()
}

/// Every branch of a declaration, as a table.
fn table(file: &Path) -> String {
    let text = fs::read_to_string(file).unwrap();
    let checked = check::check(&text, &Context::default());
    let declaration =
        checked.declaration.unwrap_or_else(|| panic!("{}: {:?}", file.display(), checked.diagnostics));
    let mut table = String::new();
    for inputs in inputs(&declaration) {
        for facts in facts(&declaration) {
            let given: Vec<String> = inputs.iter().map(|(name, value)| format!("{name}={value}")).collect();
            let is: Vec<String> = facts.iter().map(|(name, value)| format!("{name}={value}")).collect();
            let _ = writeln!(table, "== {} | {} | {}", declaration.name.value, given.join(" "), is.join(" "));
            for line in play(&text, &inputs, &facts) {
                let _ = writeln!(table, "{line}");
            }
            table.push('\n');
        }
    }
    table
}

fn holds(dialect: &str, file: &Path) {
    let name = format!("{dialect}_{}", file.file_stem().unwrap().to_str().unwrap().replace('-', "_"));
    insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => true }, {
        insta::assert_snapshot!(name, table(file));
    });
}

#[test]
fn the_shops_declarations_log_the_expected_branches() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/shop/.claude/superpowers");
    for name in ["new-ui-feature", "api-endpoint", "bugfix", "design-refresh"] {
        holds("shop", &dir.join(format!("{name}.yaml")));
    }
}

#[test]
#[cfg_attr(not(shared), ignore = "what others wrote is not beside the repository")]
fn other_declarations_log_the_expected_branches() {
    for (dialect, names) in [
        ("superpowers", &["new-ui-feature", "api-endpoint", "bugfix", "design-refresh"][..]),
        ("taffy", &["new-ui-feature", "api-endpoint", "bugfix", "design-refresh", "implement-stories"]),
    ] {
        let dir = shared(dialect);
        for name in names {
            holds(dialect, &dir.join(format!("{name}.yaml")));
        }
    }
}
