//! OpenCode's server in a run: permission requests, the session across attempts, the end.

use crate::opencode_server::serving;
use crate::world::World;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

const ONE: &str = "stages:\n  - agent: coder\n";

fn world(script: &str, more: Value) -> World {
    let world = World::new();
    let password = "open('password', 'a').write(os.environ.get('OPENCODE_SERVER_PASSWORD', '') + '\\n')";
    serving(&world.path("bin"), &format!("{password}\n{script}"));
    let mut config = json!({
        "harness": "opencode", "harnesses": { "opencode": { "cmd": [world.path("bin/opencode")] } },
    });
    for (key, value) in more.as_object().unwrap() {
        config[key] = value.clone();
    }
    world.configure(config);
    world.declare("one", ONE);
    world
}

/// The next event of this kind, and all events before it.
fn next(world: &World, kind: &str, heard: &mut Vec<Value>) -> Value {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        let events = world.events();
        heard.extend(events.iter().cloned());
        if let Some(event) = events.into_iter().find(|event| event["type"] == kind) {
            return event;
        }
        assert!(Instant::now() < end, "no {kind}: {heard:#?}\n{}", world.log().join("\n"));
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn kept(folder: &Path, all: &mut Vec<u8>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        match entry.file_type().unwrap() {
            kind if kind.is_dir() => kept(&entry.path(), all),
            kind if kind.is_file() => all.extend(fs::read(entry.path()).unwrap()),
            _ => {}
        }
    }
}

#[test]
fn two_concurrent_runs_are_answered_separately_and_store_no_password() {
    let script = "def work(body): say('I ask.'); ask(); done(json.dumps(replies.get()))";
    let (first, second) = (world(script, json!({})), world(script, json!({})));
    first.run("one", json!({}));
    second.run("one", json!({}));
    let mut heard = Vec::new();
    let (one, two) = (next(&first, "permission", &mut heard), next(&second, "permission", &mut heard));
    assert_eq!(one["title"], "bash ls");
    // An answer for another run is ignored.
    first.call("answer", json!({ "id": two["id"], "value": { "answer": "once" } }));
    second.ok("answer", json!({ "id": two["id"], "value": { "answer": "deny", "reason": "not here" } }));
    assert_eq!(second.settled()["state"], "complete");
    assert_eq!(first.status()["state"], "running");
    first.ok("answer", json!({ "id": one["id"], "value": { "answer": "once" } }));
    assert_eq!(first.settled()["state"], "complete");
    for (world, said) in [(&first, "once"), (&second, "not here")] {
        let mut all = Vec::new();
        kept(&world.path(".claude"), &mut all);
        heard.extend(world.events());
        all.extend(Value::from(heard.clone()).to_string().into_bytes());
        all.extend(world.status().to_string().into_bytes());
        let all = String::from_utf8_lossy(&all);
        assert!(all.contains(said));
        let password = world.read("password");
        assert!(password.trim().len() == 32 && !all.contains(password.trim()));
        assert!(!all.to_lowercase().contains("authorization"));
    }
}

#[test]
fn cancel_withdraws_requests_and_late_answers_are_dropped() {
    let world = world("def work(body): say('I ask.'); ask(); replies.get(); done()", json!({}));
    world.run("one", json!({}));
    let mut heard = Vec::new();
    let asked = next(&world, "permission", &mut heard);
    world.ok("cancel", json!({}));
    assert_eq!(world.settled()["state"], "cancelled");
    heard.clear();
    assert_eq!(next(&world, "permission-gone", &mut heard)["id"], asked["id"]);
    world.call("answer", json!({ "id": asked["id"], "value": { "answer": "once" } }));
    assert!(world.read("requests.jsonl").lines().all(|line| !line.contains("/permission/")));
    assert_eq!(world.status()["state"], "cancelled");
}

#[test]
fn an_agent_waiting_for_the_user_is_not_silent() {
    let script = "def work(body): say('I ask.'); ask(); replies.get(); done()";
    let world = world(script, json!({ "idle": "4s", "permission_timeout": "9s" }));
    world.run("one", json!({}));
    let picture = world.settled();
    assert_eq!(
        (&picture["state"], &picture["reason"]),
        (&json!("paused"), &json!("needs-human")),
        "{picture:#}"
    );
    assert!(!world.log().join("\n").contains("silent"), "{}", world.log().join("\n"));
}

#[test]
fn an_attempt_after_a_lost_server_continues_the_session() {
    let script = "def work(body):\n    say('hm')\n    if not os.path.exists('died'): open('died', 'w').close(); time.sleep(0.2); os._exit(9)\n    done()";
    let world = world(script, json!({}));
    world.run("one", json!({}));
    assert_eq!(world.settled()["state"], "complete", "{}", world.log().join("\n"));
    let asked = |path: &str| {
        let line = format!("\"path\": \"{path}\"");
        world.read("requests.jsonl").lines().filter(|request| request.contains(&line)).count()
    };
    assert_eq!((asked("/session"), asked("/session/ses_1"), asked("/session/ses_1/prompt_async")), (1, 1, 2));
}
