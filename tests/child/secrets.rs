//! An editor with secrets in its environment that starts or continues a run.

use crate::world::World;
use serde_json::json;
use std::fs;
use std::path::Path;

const HIDDEN: &str = "inputs: [{name: note}, {name: plain}]
stages:
  - {agent: a, description: 'Do {{note}}'}
  - {gate: human-approval}
  - {agent: b, inputs: {own: 'with {{note}}'}}
";
fn secret(name: &str) -> String {
    std::env::var(name).unwrap()
}

/// A run whose input contains two secrets from the environment.
pub fn hidden(what: &str, root: &str, state: &str) {
    let world = World::at(Path::new(root), Path::new(state));
    if what == "run" {
        world.declare("hide", HIDDEN);
        world.run("hide", json!({ "note": format!("{}, then {}", secret("MY_SERVICE_KEY"), secret("MY_SERVICE_TOKEN")), "plain": "*** stays" }));
        assert_eq!(world.settled()["reason"], "gate");
    } else {
        let answer = world.decide("approve", "");
        fs::write(Path::new(root).join("answer"), answer.to_string()).unwrap();
        world.settled();
    }
}

const WORDS: &str = "inputs:
  - {name: scope, type: enum, enum: [full, tokens-only]}
  - {name: kind}
stages:
  - {agent: a}
  - {gate: human-approval}
  - {agent: b, when: '{{scope}} == tokens-only'}
  - {agent: c, when: '{{kind}} == interrupted'}
  - {gate: human-approval, name: last, when: '{{scope}} == tokens-only'}
";

/// A run whose secrets equal words of the program and of the declaration.
pub fn worded(what: &str, root: &str, state: &str) {
    let world = World::at(Path::new(root), Path::new(state));
    let picture = if what == "run" {
        world.declare("worded", WORDS);
        world.run("worded", json!({ "scope": "tokens-only", "kind": "interrupted" }));
        world.settled()
    } else {
        let answer = world.decide("approve", "");
        assert!(answer["ok"].is_object(), "{answer}");
        world.settled()
    };
    assert_eq!(picture["superpower"], "worded", "{picture}");
    assert_eq!(picture["stages"][0]["mark"], "passed");
    assert_eq!(picture["root"], json!(world.root()));
    let events = world.events();
    let opened = events.iter().find(|event| event["type"] == "gate-opened");
    assert!(opened.is_some() || picture["state"] == "complete", "{events:?}");
    assert!(events.iter().any(|event| event["type"] == "run-paused" || event["type"] == "run-finished"));
    fs::write(Path::new(root).join("picture"), picture.to_string()).unwrap();
}
