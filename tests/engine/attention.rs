//! How the user is called: once, by the editor that was used last, or by their command where no editor is attached.

use crate::clients::{Editor, Ends, LONG};
use crate::world::World;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use superpower::process::{Environment, ShortProgram};

const TWO_STAGES_AND_A_GATE: &str = "stages:
  - agent: coder
  - name: ask
    gate: human-approval
  - agent: closer
";

/// Works until it is told to go on, then does what is in `then`.
const WAITS: &str =
    "echo > working-$1; while [ ! -e go-on-$1 ]; do sleep 0.01; done; [ ! -e then ] || . ./then; echo done";

fn wait_until(what: &str, enough: impl Fn() -> bool) {
    let end = Instant::now() + LONG;
    while !enough() {
        assert!(Instant::now() < end, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Exits an editor, and waits until the driver has noted it: each client has a thread there that sends to it.
fn leave(editor: Editor) {
    let driver = editor.driver().unwrap();
    editor.leave();
    let is_sender = |task: fs::DirEntry| {
        fs::read_to_string(task.path().join("comm")).is_ok_and(|name| name.trim() == "superpower-send")
    };
    wait_until("the end of its connection", || {
        let tasks = fs::read_dir(format!("/proc/{driver}/task")).into_iter().flatten().flatten();
        !tasks.into_iter().any(is_sender)
    });
}

fn script(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A program in the place of `notify-send`, which records its arguments, one a line, with its directory and our marks.
struct Recorder {
    dir: tempfile::TempDir,
}

impl Recorder {
    fn new() -> Self {
        let recorder = Self { dir: tempfile::tempdir().unwrap() };
        let said = recorder.dir.path().join("said");
        let text = format!(
            "{{ echo \"in $PWD\"; env | grep '^SUPERPOWER_'; printf '%s\\n' \"$@\"; echo .; }} > '{0}.part'\n\
             cat '{0}.part' >> '{0}'\necho noise; echo noise >&2",
            said.display()
        );
        script(&recorder.dir.path().join("notify"), &text);
        recorder
    }

    fn config(&self) -> Value {
        let program = self.dir.path().join("notify");
        json!({ "attention_command": [program, "{title}", "--text={body}", "a $(b) c"] })
    }

    /// What each call said.
    fn calls(&self) -> Vec<String> {
        let said = fs::read_to_string(self.dir.path().join("said")).unwrap_or_default();
        said.split_terminator("\n.\n").map(str::to_owned).collect()
    }

    fn wait_for(&self, calls: usize) -> Vec<String> {
        wait_until("a call", || self.calls().len() >= calls);
        self.calls()
    }
}

fn call(title: &str, body: &str) -> String {
    format!("in /\n{title}\n--text={body}\na $(b) c")
}

fn attention(editor: &Editor) -> Vec<&Value> {
    editor.events.iter().filter(|event| event["type"] == "attention").collect()
}

#[test]
fn a_driver_without_an_editor_runs_the_command_for_gate_and_end() {
    let (world, recorder) = (World::new(), Recorder::new());
    world.declare("two", TWO_STAGES_AND_A_GATE);
    world.hook(WAITS);
    let mut editor = Editor::configured(&world, recorder.config());
    editor.ok("run", json!({ "name": "two", "by": "ann" }));
    wait_until("the agent", || world.path("working-coder").exists());
    let _ends = Ends(editor.driver().unwrap());
    leave(editor);
    world.write("go-on-coder", "");
    let gate = call("superpower: two", "stage 2/3 waits at its gate: human approval");
    assert_eq!(recorder.wait_for(1), std::slice::from_ref(&gate));

    // Who continues a run brings the configuration that it goes on with.
    let next = Recorder::new();
    let mut second = Editor::configured(&world, next.config());
    assert!(second.decide("approve").get("ok").is_some());
    wait_until("the agent", || world.path("working-closer").exists());
    leave(second);
    world.write("go-on-closer", "");
    let [end] = &next.wait_for(1)[..] else { panic!("{:#?}", next.calls()) };
    assert!(end.starts_with("in /\nsuperpower: two\n--text=complete"), "{end}");
    assert_eq!(recorder.calls(), [gate]);
}

#[test]
fn of_several_editors_the_one_that_was_used_last_is_called_and_no_command_is_run() {
    let (world, recorder) = (World::new(), Recorder::new());
    world.declare("two", TWO_STAGES_AND_A_GATE);
    world.hook(WAITS);
    let mut one = Editor::configured(&world, recorder.config());
    let mut other = Editor::configured(&world, recorder.config());
    one.ok("run", json!({ "name": "two", "by": "ann" }));
    let _ends = Ends(one.driver().unwrap());
    other.ok("status", json!({}));
    world.write("go-on-coder", "");
    one.wait("the gate", |event| event["type"] == "snapshot" && event["run"]["state"] == "paused");
    one.until_heard("gate-opened");
    other.until_heard("attention");
    let [event] = attention(&other)[..] else { panic!("{:#?}", other.events) };
    assert_eq!(event["reason"], "gate");
    assert_eq!(event["title"], "superpower: two");
    assert_eq!(event["body"], "stage 2/3 waits at its gate: human approval");
    // The editor asks for the command itself.
    let request = json!({
        "op": "call-user", "root": world.root(), "title": event["title"], "body": event["body"],
    });
    assert_eq!(other.router.call(&request.to_string()), r#"{"ok":{}}"#);
    let gate = call("superpower: two", "stage 2/3 waits at its gate: human approval");
    assert_eq!(recorder.wait_for(1), std::slice::from_ref(&gate));

    other.leave();
    assert!(one.decide("approve").get("ok").is_some());
    wait_until("the agent", || world.path("working-closer").exists());
    one.until_heard("gate-decided");
    assert!(attention(&one).is_empty(), "the gate called in the other editor");
    leave(one);
    world.write("go-on-closer", "");
    let all = recorder.wait_for(2);
    assert_eq!(all[0], gate);
    assert!(all[1].starts_with("in /\nsuperpower: two\n--text=complete"), "{all:#?}");
    assert_eq!(all.len(), 2);
}

#[test]
fn what_an_agent_asks_is_one_visible_line_without_markup_and_bounded() {
    let (world, recorder) = (World::new(), Recorder::new());
    world.declare("one", "stages:\n  - agent: coder\n");
    world.hook(WAITS);
    world.write(
        "then",
        "printf '\"; $(touch owned) `touch owned` <b>\\\\ {title} \\033]52;c;QQ==\\007 \\342\\200\\256 end?'; \
         head -c 100000 /dev/zero | tr '\\0' x; exit 2",
    );
    let mut editor = Editor::configured(&world, recorder.config());
    editor.ok("run", json!({ "name": "one", "by": "ann" }));
    wait_until("the agent", || world.path("working-coder").exists());
    let _ends = Ends(editor.driver().unwrap());
    leave(editor);
    world.write("go-on-coder", "");
    let [said] = &recorder.wait_for(1)[..] else { panic!("{:#?}", recorder.calls()) };
    let [_, title, body, _] = said.lines().collect::<Vec<_>>()[..] else { panic!("{said}") };
    assert_eq!(title, "superpower: one");
    assert!(
        body.starts_with("--text=stage 1/1 asks: ”; ＄(touch owned) ‵touch owned‵ ‹b›⧵ {title} "),
        "{body}"
    );
    assert!(!body.contains(|letter: char| letter.is_control() || letter == '\u{202e}'), "{body}");
    assert!(body.ends_with('…') && body.chars().count() < 260, "{body}");
    assert!(!world.path("owned").exists() && !Path::new("/owned").exists());
}

#[test]
fn a_command_that_fails_is_said_once() {
    let world = World::new();
    world.declare("two", "stages:\n  - {name: ask, gate: human-approval}\n  - agent: coder\n");
    world.hook("exit 1");
    world.configure(json!({ "attention_command": ["/no/such/notify", "{title}"], "headless": true }));
    world.ok("run", json!({ "name": "two", "by": "ann" }));
    world.settled();
    world.decide("approve", "");
    assert_eq!(world.settled()["reason"], "failed", "it called twice, in vain");
    world.call("stop", json!({ "grace_ms": 200 }));
    let notices = world.events().into_iter().filter(|event| event["type"] == "notice");
    let said: Vec<Value> = notices.map(|mut notice| notice["message"].take()).collect();
    let about: Vec<_> =
        said.iter().filter(|message| message.as_str().unwrap().contains("/no/such")).collect();
    assert_eq!(about, ["attention_command: \"/no/such/notify\" was not found"], "{said:#?}");
}

#[test]
fn an_editor_without_a_user_runs_the_command_itself_and_waits_for_it_when_it_exits() {
    let (world, recorder) = (World::new(), Recorder::new());
    world.declare("one", "stages:\n  - agent: coder\n");
    let mut config = recorder.config();
    config["headless"] = json!(true);
    world.configure(config);
    world.call("run", json!({ "name": "one", "by": "ann" }));
    assert_eq!(world.settled()["state"], "complete");
    world.call("stop", json!({ "grace_ms": 200 }));
    let [said] = &recorder.calls()[..] else { panic!("{:#?}", recorder.calls()) };
    assert!(said.starts_with("in /\nsuperpower: one\n--text=complete"), "{said}");
}

#[test]
fn the_program_is_not_looked_for_in_the_project_and_is_ended_in_time() {
    let (project, own) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (root, own) = (project.path().canonicalize().unwrap(), own.path().canonicalize().unwrap());
    for place in [&root.join("bin"), &own] {
        script(
            &place.join("notify"),
            "echo \"$0 $PATH $PWD\" >> \"$1\"; env | grep SUPERPOWER_ >> \"$1\"; true",
        );
    }
    script(&root.join("bin/theirs"), "true");
    script(&own.join("slow"), "sleep 1000 & echo $! > \"$1\"; wait");
    script(&own.join("broken"), "exit 3");
    let path = format!("{}:bin::{}:/usr/bin:/bin", root.join("bin").display(), own.display());
    let variables = [("PATH".into(), path.into()), ("SUPERPOWER_RUN_ID".into(), "r".into())];
    let environment = Environment::from(Arc::new(variables.into()));
    let run = |program: &str, said: &Path, limit| {
        let short = ShortProgram { environment: &environment, root: &root, limit };
        short.run(program, &[said.display().to_string()])
    };
    let said = own.join("said");
    assert_eq!(run("notify", &said, LONG), Ok(()));
    let expected = format!("{0}/notify {0}:/usr/bin:/bin /\n", own.display());
    assert_eq!(fs::read_to_string(&said).unwrap(), expected);
    let missing = run("theirs", &said, LONG).unwrap_err();
    assert!(missing.starts_with("\"theirs\" was not found"), "{missing}");
    assert!(run("./bin/theirs", &said, LONG).unwrap_err().contains("a path must be absolute"));
    assert_eq!(run("broken", &said, LONG), Err("\"broken\" exited with status 3".into()));
    let late = run("slow", &own.join("below"), Duration::from_secs(3)).unwrap_err();
    assert!(late.contains("took longer than 3s"), "{late}");
    let below = fs::read_to_string(own.join("below")).unwrap().trim().parse().unwrap();
    wait_until("the end of what it started", || superpower::process::record(below).is_none());
}

#[test]
fn a_command_that_hangs_ends_with_a_driver_that_is_killed() {
    let (world, place) = (World::new(), tempfile::tempdir().unwrap());
    world.declare("one", "stages:\n  - agent: coder\n");
    world.hook(WAITS);
    let (hangs, said) = (place.path().join("hangs"), place.path().join("process"));
    script(&hangs, "echo $$ > \"$1.part\"; mv \"$1.part\" \"$1\"; exec sleep 1000");
    let mut editor = Editor::configured(&world, json!({ "attention_command": [hangs, said] }));
    editor.ok("run", json!({ "name": "one", "by": "ann" }));
    wait_until("the agent", || world.path("working-coder").exists());
    let driver = editor.driver().unwrap();
    leave(editor);
    world.write("go-on-coder", "");
    wait_until("the call", || said.exists());
    let hanging = fs::read_to_string(&said).unwrap().trim().parse().unwrap();
    std::process::Command::new("kill").arg("-KILL").arg(driver.to_string()).status().unwrap();
    wait_until("its end", || superpower::process::record(hanging).is_none());
}
