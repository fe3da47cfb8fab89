//! A repository can contain symbolic links; we never write through one.

use crate::world::World;
use serde_json::json;
use std::fs;
use std::os::unix::fs::symlink;

const ONE: &str = "stages:\n  - {agent: a}\n";

#[test]
fn a_run_is_not_stored_behind_a_link_out_of_the_project() {
    let world = World::new();
    world.declare("one", ONE);
    let elsewhere = tempfile::tempdir().unwrap();
    fs::create_dir_all(world.path(".claude/state")).unwrap();
    symlink(elsewhere.path(), world.path(".claude/state/runs")).unwrap();
    let message = world.refused("run", json!({ "name": "one" }), "disk");
    assert!(message.contains(".claude/state/runs\" is a link; remove it"), "{message}");
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
}

#[test]
fn taking_the_lease_does_not_truncate_a_linked_file() {
    let world = World::new();
    world.declare("one", ONE);
    fs::create_dir_all(world.path(".claude/state")).unwrap();
    world.write("precious", "do not lose me");
    symlink(world.path("precious"), world.path(".claude/state/drive.lock")).unwrap();
    let message = world.refused("run", json!({ "name": "one" }), "disk");
    assert!(message.contains("drive.lock\" is a link; remove it"), "{message}");
    assert_eq!(world.read("precious"), "do not lose me");
}

#[test]
fn the_log_is_not_written_to_a_linked_file() {
    for link in [".claude/logs", ".claude/logs/superpower.log"] {
        let world = World::new();
        world.declare("one", ONE);
        let elsewhere = tempfile::tempdir().unwrap();
        let profile = elsewhere.path().join("superpower.log");
        fs::write(&profile, "").unwrap();
        let target = if link.ends_with(".log") { profile.as_path() } else { elsewhere.path() };
        fs::create_dir_all(world.path(link).parent().unwrap()).unwrap();
        symlink(target, world.path(link)).unwrap();
        world.run("one", json!({}));
        assert_eq!(world.settled()["state"], "complete", "the log keeps nobody from working");
        assert_eq!(fs::read_to_string(&profile).unwrap(), "");
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 1);
        let warned = world.events().into_iter().filter(|event| event["level"] == "warn");
        let texts: Vec<String> = warned.map(|event| event["message"].as_str().unwrap().to_owned()).collect();
        assert_eq!(texts.len(), 1, "said once: {texts:?}");
        assert!(texts[0].starts_with("cannot write the log: "), "{texts:?}");
    }
}
