//! Which stages run, and the values in their prompts: inputs, conditions, and the results of earlier stages.

use crate::world::World;
use serde_json::json;

#[test]
fn an_unknown_fact_runs_nothing() {
    let world = World::new();
    world.declare("typo", "stages:\n  - {agent: a, when: story.ui_tru}\n");
    let message = world.refused("run", json!({ "name": "typo" }), "invalid-declaration");
    assert!(message.contains("did you mean \"story.ui_true\""), "{message}");
    assert!(world.calls().is_empty());
}

#[test]
fn conditions_over_inputs_decide_their_stages() {
    let world = World::new();
    world.declare(
        "scoped",
        "inputs:
  - {name: scope, type: enum, enum: [full, tokens only], default: full}
  - {name: my-scope, default: x}
stages:
  - {agent: default, when: '{{scope}} == full'}
  - {agent: both, when: '{{scope}} == full && never'}
  - {agent: quoted, when: '{{ scope }} == \"tokens only\"'}
  - {agent: hyphen, when: '{{my-scope}} == x'}
  - {agent: not, when: '{{scope}} != full'}
",
    );
    world.run("scoped", json!({}));
    world.settled();
    assert_eq!(world.calls(), ["default", "hyphen"]);
    world.run("scoped", json!({ "scope": "tokens only", "my-scope": "y" }));
    world.settled();
    assert_eq!(world.calls(), ["default", "hyphen", "quoted", "not"]);
}

#[test]
fn prompts_contain_values_and_never_braces() {
    let world = World::new();
    world.declare(
        "values",
        "inputs: [{name: epic, required: true}, {name: note}]
stages:
  - {agent: a, description: 'On {{epic}}', inputs: {epic: '{{epic}}', of: 'about {{epic}}{{note}}'}}
",
    );
    world.run("values", json!({ "epic": "rain", "note": "{{epic}}" }));
    world.settled();
    let prompt = world.read(".prompt");
    for line in ["On rain", "- epic: rain", "- of: about rain{{epic}}", "- note: {{epic}}"] {
        assert!(prompt.contains(line), "{line}:\n{prompt}");
    }
}

#[test]
fn a_stage_gets_the_results_of_earlier_stages() {
    let world = World::new();
    world.declare(
        "passing",
        "stages:
  - {name: find, agent: finder}
  - {name: skipped, agent: nobody, when: never}
  - {name: gate, gate: human-approval}
  - {agent: fixer, inputs: {cause: '{{stages.find.result}}', none: '<{{stages.skipped.result}}>', said: '{{stages.3.result}}'}}
",
    );
    world.hook("[ $1 = finder ] && echo 'the valve' || { cat .prompt > seen; echo fixed; }");
    world.run("passing", json!({}));
    world.settled();
    world.ok("decide", json!({ "decision": "approve", "comment": "yes, that" }));
    world.settled();
    let prompt = world.read("seen");
    for line in ["- cause: the valve", "- none: <>", "- said: yes, that"] {
        assert!(prompt.contains(line), "{line}:\n{prompt}");
    }
}

#[test]
fn results_of_earlier_stages_survive_a_restart() {
    let mut world = World::new();
    world.declare("two", "stages:\n  - {agent: maker}\n  - {gate: human-approval}\n  - {agent: shipper}\n");
    world.hook("cat .prompt > seen; echo \"$1 found that the pipe is blue\"");
    world.run("two", json!({}));
    world.settled();
    world.restart();
    world.ok("decide", json!({ "decision": "approve", "comment": "mind the paint" }));
    world.settled();
    let prompt = world.read("seen");
    assert!(
        prompt.contains("maker found that the pipe is blue") && prompt.contains("mind the paint"),
        "{prompt}"
    );
}
