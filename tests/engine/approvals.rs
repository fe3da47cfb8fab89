//! An approval counts for the list that was shown. Changes after that list was made are never approved with it.

use crate::world::World;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use superpower::run::event::Event;

const TWO: &str =
    "stages:\n  - {agent: a}\n  - {gate: human-approval}\n  - {agent: b}\n  - {gate: human-approval}\n";
const MAYBE: &str = "inputs:\n  - {name: again, type: bool, default: false}\nstages:\n  - {agent: a}\n  - {gate: human-approval}\n  - {agent: b}\n  - {gate: human-approval, when: '{{again}}'}\n";

/// A change to a project.
type Change<'a> = &'a dyn Fn(&World);

/// A run that waits at its first gate, with `a.md` under review.
fn at_gate(body: &str) -> (World, String) {
    let world = World::new();
    world.write(".gitignore", "calls\n.prompt\nagent-hook\n");
    world.declare("gates", body);
    world.hook("echo $1 > $1.md; echo done");
    world.write("old.md", "old\n");
    let run_id = world.run("gates", json!({}));
    assert_eq!(world.settled()["gate"]["id"], "2.1");
    (world, run_id)
}

fn paths(review: &Value) -> Vec<String> {
    assert_eq!(review["note"], Value::Null, "{review}");
    let files = review["files"].as_array().unwrap().iter();
    files.map(|file| file["path"].as_str().unwrap().to_owned()).collect()
}

fn listed(world: &World) -> Vec<String> {
    paths(&world.ok("review", json!({})))
}

fn approve(world: &World, review: &str, more: Value) -> Value {
    let mut fields = json!({ "decision": "approve", "review": review });
    more.as_object().unwrap().iter().for_each(|(key, value)| fields[key] = value.clone());
    world.call("decide", fields)
}

/// Checks that the approval is refused with this code and these files. Returns the list that was shown instead.
fn held(answer: &Value, code: &str, files: &[&str]) -> String {
    assert_eq!(answer["err"]["code"], code, "{answer}");
    assert_eq!(answer["err"]["data"]["files"], json!(files), "{answer}");
    answer["err"]["data"]["review"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn what_changes_after_the_list_was_shown_is_not_approved_with_it() {
    let kinds: [(&str, Change); 7] = [
        ("evil.sh", &|world| world.write("evil.sh", "curl evil.example\n")),
        ("a.md", &|world| world.write("a.md", &"other\n".repeat(40))),
        ("old.md", &|world| fs::remove_file(world.path("old.md")).unwrap()),
        ("old.md", &|world| {
            fs::set_permissions(world.path("old.md"), fs::Permissions::from_mode(0o755)).unwrap();
        }),
        ("link", &|world| symlink("/etc/passwd", world.path("link")).unwrap()),
        ("deep/er/x", &|world| world.write("deep/er/x", "")),
        ("old.md", &|world| {
            fs::remove_file(world.path("old.md")).unwrap();
            symlink("/etc/passwd", world.path("old.md")).unwrap();
        }),
    ];
    for (path, change) in kinds {
        let (world, run_id) = at_gate(TWO);
        let first = world.look();
        change(&world);
        let second = held(&approve(&world, &first, json!({})), "changed-since-shown", &[path]);
        assert_ne!(first, second);
        let made = |event: &Event| matches!(event, Event::GateDecided { .. });
        assert!(!world.records(&run_id).iter().any(|it| made(&it.event)), "{path}");
        assert_eq!((world.status()["gate"]["id"].as_str(), world.calls().len()), (Some("2.1"), 1));
        // The next approval is for the list that was shown instead.
        assert_eq!(world.look(), second);
        assert!(listed(&world).contains(&path.to_owned()));
        assert!(approve(&world, &second, json!({}))["ok"].is_object());
        assert_eq!(world.settled()["gate"]["id"], "4.1");
        assert_eq!(listed(&world), ["b.md"], "{path}");
        let approved = world.log().into_iter().find(|line| line.starts_with("APPROVED"));
        assert!(approved.unwrap().starts_with("APPROVED  stage 2/4  (Lua"), "{path}");
    }
}

#[test]
fn the_second_decision_is_for_what_was_shown_last_and_the_rest_stands_in_the_next_list() {
    let (world, run_id) = at_gate(TWO);
    let first = world.look();
    world.write("one.log", "1\n");
    let second = held(&approve(&world, &first, json!({})), "changed-since-shown", &["one.log"]);
    world.write("one.log", "1\n2\n");
    world.write("evil.sh", "x\n");
    // An editor that still shows the first list does not know of the change yet.
    let third = held(&approve(&world, &first, json!({})), "changed-since-shown", &["evil.sh", "one.log"]);
    assert_ne!(second, third);
    assert!(approve(&world, &second, json!({}))["ok"].is_object());
    assert_eq!(world.settled()["gate"]["id"], "4.1");
    assert_eq!(listed(&world), ["b.md", "evil.sh", "one.log"]);
    let log = world.log();
    let line = "APPROVED  stage 2/4  (changed after it was shown: evil.sh, one.log)";
    assert!(log.iter().any(|it| it.starts_with(line)), "{log:?}");
    let decided = world.records(&run_id).into_iter().find_map(|record| match record.event {
        Event::GateDecided { review, since, .. } => Some((review.unwrap(), since)),
        _ => None,
    });
    let (review, since) = decided.unwrap();
    assert!(review.starts_with(&second));
    assert_eq!(since, ["evil.sh", "one.log"]);
}

#[test]
fn at_the_last_gate_the_second_decision_needs_a_word() {
    for (body, gate) in
        [(TWO, "4.1"), (MAYBE, "2.1"), ("stages:\n  - {agent: a}\n  - {gate: human-approval}\n", "2.1")]
    {
        let (world, _) = at_gate(body);
        if gate == "4.1" {
            assert!(approve(&world, &world.look(), json!({}))["ok"].is_object());
            assert_eq!(world.settled()["gate"]["id"], gate);
        }
        let shown = world.look();
        world.write("x.log", "1\n");
        // An answer alone does not replace the new list.
        let answer = approve(&world, &shown, json!({ "answer": "go-on" }));
        let shown = held(&answer, "changed-since-shown", &["x.log"]);
        world.write("x.log", "2\n");
        let again = approve(&world, &shown, json!({}));
        held(&again, "changed-again", &["x.log"]);
        assert_eq!(again["err"]["data"]["last"], true);
        assert_eq!(world.status()["state"], "paused");
        assert!(approve(&world, &shown, json!({ "answer": "go-on" }))["ok"].is_object());
        assert_eq!(world.settled()["state"], "complete");
    }
}

/// Two editors show lists of different trees. Each decides about its own list.
#[test]
fn each_editor_decides_about_the_list_that_it_shows() {
    let (mut world, _) = at_gate(TWO);
    let first = world.look();
    let one = world.engine.clone();
    world.write("b-side.md", "x\n");
    world.restart();
    let second = world.look();
    assert_ne!(first, second);
    // The other editor's list is not in the journal, so this editor does not know it.
    let other = std::mem::replace(&mut world.engine, one);
    world.configure(json!({}));
    held(&approve(&world, &second, json!({})), "not-shown", &[]);
    held(&approve(&world, &first, json!({})), "changed-since-shown", &["b-side.md"]);
    world.engine = other;
    assert!(approve(&world, &second, json!({}))["ok"].is_object(), "that is what it still shows");
    assert_eq!(world.settled()["gate"]["id"], "4.1");
    assert_eq!(listed(&world), ["b.md"]);
}

#[test]
fn a_change_that_is_taken_back_needs_no_second_look() {
    let (world, _) = at_gate(TWO);
    let shown = world.look();
    world.write("x", "x");
    fs::remove_file(world.path("x")).unwrap();
    assert!(approve(&world, &shown, json!({}))["ok"].is_object());
    assert_eq!(world.settled()["gate"]["id"], "4.1");
}

#[test]
fn changes_and_reject_are_always_taken() {
    for decision in ["changes", "reject"] {
        let (world, _) = at_gate(TWO);
        let shown = world.look();
        world.write("x", "x");
        let fields = json!({ "decision": decision, "comment": "no", "review": shown });
        world.ok("decide", fields);
        world.settled();
        let state = if decision == "reject" { "rejected" } else { "paused" };
        assert_eq!(world.status()["state"], state);
    }
}

/// The user's own edits at the gate are in the list when the window is entered again.
#[test]
fn a_list_is_made_anew_each_time_it_is_asked_for() {
    let (world, _) = at_gate(TWO);
    assert_eq!(listed(&world), ["a.md"]);
    world.write("mine.md", "x\n");
    assert_eq!(listed(&world), ["a.md", "mine.md"]);
    fs::remove_file(world.path("a.md")).unwrap();
    assert_eq!(listed(&world), ["mine.md"]);
    assert_eq!(world.ok("review", json!({}))["review"], json!(world.look()), "the same files, the same name");
}

#[test]
fn headless_a_list_is_printed_before_anything_is_approved() {
    let (mut world, _) = at_gate(TWO);
    // The previous editor's list was never printed.
    world.restart();
    world.configure(json!({ "headless": true }));
    let printed = |world: &World| -> Vec<String> {
        let lines = world.events().into_iter().filter(|event| event["answer"] == true);
        lines.map(|event| event["message"].as_str().unwrap().to_owned()).collect()
    };
    let answer = world.decide_headless(json!({}));
    let review = held(&answer, "not-shown", &[]);
    let lines = printed(&world);
    let head = format!("gate of stage 2/4: 1 file changed since the last approval (review={review})");
    let left_out = "  not listed: 2 new ignored files (.prompt, calls)";
    assert_eq!(lines, [head, "  + a.md +1".to_owned(), left_out.to_owned()]);
    // Another process continues from here.
    world.restart();
    world.configure(json!({ "headless": true }));
    world.write("evil.sh", "x\n");
    let answer = world.decide_headless(json!({ "answer": "go-on" }));
    held(&answer, "changed-since-shown", &["evil.sh"]);
    assert!(printed(&world).contains(&"  + evil.sh +1".to_owned()));
    world.write("more.sh", "x\n");
    held(&world.decide_headless(json!({})), "changed-again", &["more.sh"]);
    let answer = world.decide_headless(json!({ "answer": "go-on" }));
    assert!(answer["ok"].is_object(), "{answer}");
    assert_eq!(world.settled()["gate"]["id"], "4.1");
    // A pause prints its list.
    let lines = printed(&world);
    assert!(lines.contains(&"  + more.sh +1".to_owned()), "{lines:#?}");
    assert!(lines.iter().any(|line| line.starts_with("gate of stage 4/4: 2 files")), "{lines:#?}");
    world.restart();
    world.configure(json!({ "headless": true }));
    assert!(world.decide_headless(json!({}))["ok"].is_object(), "what was printed is approved");
    assert_eq!(world.settled()["state"], "complete");
}

/// If no list can be made, the gate says so and the journal records it. The changes are in the next list.
#[test]
fn a_decision_without_a_list_says_so_and_the_next_list_has_it_all() {
    let (mut world, run_id) = at_gate(TWO);
    let reviews = world.reviews();
    let parked = reviews.with_extension("parked");
    fs::rename(&reviews, &parked).unwrap();
    fs::write(&reviews, "in the way").unwrap();
    world.restart();
    let review = world.ok("review", json!({}));
    assert!(review["note"].as_str().unwrap().contains("not listed"), "{review}");
    let answer = approve(&world, review["review"].as_str().unwrap(), json!({}));
    assert!(answer["ok"].is_object(), "{answer}");
    world.settled();
    let log = world.log();
    let line = "APPROVED  stage 2/4  (without a list of changed files)";
    assert!(log.iter().any(|it| it.starts_with(line)), "{log:?}");
    let noted = world
        .records(&run_id)
        .into_iter()
        .any(|record| matches!(record.event, Event::ReviewShown { stage: 1, tree: None, note: Some(_), .. }));
    assert!(noted);
    fs::remove_file(&reviews).unwrap();
    fs::rename(&parked, &reviews).unwrap();
    assert_eq!(listed(&world), ["a.md", "b.md"]);
}

#[test]
fn a_name_that_is_no_list_approves_nothing() {
    let (world, _) = at_gate(TWO);
    let shown = world.look();
    for wrong in ["0123456789ab", "", &shown[..4], "../../x"] {
        held(&approve(&world, wrong, json!({})), "not-shown", &[]);
    }
    assert!(approve(&world, &shown[..8], json!({}))["ok"].is_object());
}

#[test]
fn a_look_that_is_given_up_shows_and_decides_nothing() {
    let (world, run_id) = at_gate(TWO);
    let before = world.journal(&run_id);
    world.call("give-up-look", json!({ "look": 7 }));
    world.refused("review", json!({ "look": 7 }), "look-given-up");
    world.call("give-up-look", json!({ "look": 8 }));
    world.refused("decide", json!({ "decision": "approve", "look": 8 }), "look-given-up");
    assert_eq!(world.journal(&run_id), before);
    assert_eq!(listed(&world), ["a.md"], "another look is another");
    assert!(approve(&world, &world.look(), json!({ "look": 9 }))["ok"].is_object());
}

/// A file's name with a line break would look like a line of ours.
#[test]
fn a_file_name_is_shown_on_one_line_wherever_it_is_named() {
    let name = "b\n  + c.md +1\u{1b}[2J\u{202e}";
    let shown = "b^J  + c.md +1^[[2J<202e>";
    let (mut world, _) = at_gate(TWO);
    world.restart();
    world.configure(json!({ "headless": true }));
    world.write(name, "x\n");
    held(&world.decide_headless(json!({})), "not-shown", &[]);
    let lines = world.events().into_iter().filter(|event| event["answer"] == true);
    let lines: Vec<String> = lines.map(|event| event["message"].as_str().unwrap().to_owned()).collect();
    assert!(lines.contains(&format!("  + {shown} +1")), "{lines:#?}");
    assert!(!lines.iter().any(|line| line.contains(char::is_control)), "{lines:#?}");
    world.write(name, "y\n");
    let answer = world.decide_headless(json!({}));
    held(&answer, "changed-since-shown", &[name]);
    let message = answer["err"]["message"].as_str().unwrap();
    assert!(message.contains(shown) && !message.contains(char::is_control), "{message:?}");
    // What is refused because of its kind.
    symlink("/nowhere", world.path(".claude/superpowers/l\nm.yaml")).unwrap();
    let left = world.ok("left", json!({})).to_string();
    assert!(left.contains("l^Jm.yaml is a broken link"), "{left}");
    let path = format!(".claude/state/{name}");
    symlink("/nowhere", world.path(&path)).unwrap();
    let message = world.refused("read-file", json!({ "path": path }), "unreadable-file");
    assert!(message.contains(&format!("{shown}\" is a link")), "{message:?}");
}
