//! What a driver's socket gets from others: garbage, floods, other programs, other versions, other users, agents.

use crate::alone::alone;
use crate::clients::{Editor, Ends};
use crate::driver_process::{TWO_STAGES_AND_A_GATE, WAITS, wait_until};
use crate::world::World;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::Command;
use std::time::Duration;
use superpower::server::socket_path::SocketPath;

#[test]
fn what_is_no_driver_is_said_and_the_editor_drives() {
    type Foreign = fn(UnixStream);
    let foreign: [(&str, Foreign); 4] = [
        ("silence", |stream| {
            std::thread::sleep(Duration::from_secs(4));
            drop(stream);
        }),
        ("garbage", |mut stream| drop(stream.write_all(b"220 mail ready\r\n"))),
        ("a flood", |mut stream| while stream.write_all(&[b'x'; 4096]).is_ok() {}),
        ("another project", |mut stream| {
            let hello = r#"{"superpower":"0.1.0","protocol":1,"pid":1,"root":"/elsewhere"}"#;
            drop(writeln!(stream, "{hello}"));
        }),
    ];
    for (what, serve) in foreign {
        let world = World::new();
        world.declare("one", "stages:\n  - agent: coder\n");
        let socket = SocketPath::of(&world.root()).unwrap().socket();
        let listener = UnixListener::bind(&socket).unwrap();
        std::thread::spawn(move || listener.incoming().flatten().for_each(serve));
        let mut editor = Editor::of(&world);
        editor.ok("run", json!({ "name": "one", "by": "ann" }));
        let run = editor.wait_for_state("complete");
        assert_eq!(run["driver"]["pid"], std::process::id(), "{what}");
        std::fs::remove_file(&socket).unwrap();
    }
}

#[test]
fn garbage_ends_its_own_client_only() {
    let world = World::new();
    world.declare("two", TWO_STAGES_AND_A_GATE);
    let mut editor = Editor::of(&world);
    editor.ok("run", json!({ "name": "two", "by": "ann" }));
    let _ends = Ends(editor.driver().unwrap());
    editor.wait_for("gate-opened");
    let socket = SocketPath::of(&world.root()).unwrap().socket();
    let twisted: [&[u8]; 6] = [
        b"hello\n",
        b"\0\0\0\0\n",
        b"{\"op\":\"no-such-op\",\"id\":1}\n",
        b"{\"op\":\"call\",\"id\":1,\"request\":7}\n",
        b"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\n",
        &[b'x'; 17 << 20],
    ];
    for bytes in twisted {
        let mut stream = UnixStream::connect(&socket).unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut hello = String::new();
        reader.read_line(&mut hello).unwrap();
        let _ = stream.write_all(bytes);
        let mut rest = Vec::new();
        // The end of the connection, which may come as a reset.
        let _ = std::io::Read::read_to_end(&mut reader, &mut rest);
    }
    assert_eq!(editor.ok("status", json!({}))["state"], "paused");
    assert!(editor.decide("approve").get("ok").is_some());
    editor.wait_for_state("complete");
}

#[test]
fn a_client_below_an_agent_decides_nothing() {
    let world = World::new();
    world.declare("two", TWO_STAGES_AND_A_GATE);
    let socket = SocketPath::of(&world.root()).unwrap().socket();
    let call = |request: Value| json!({ "op": "call", "id": 1, "request": request }).to_string();
    let lines = [
        call(json!({ "op": "cancel" })),
        call(json!({ "op": "decide", "decision": "approve" })),
        call(json!({ "op": "trust-grant", "digest": "x" })),
        json!({ "op": "cancel", "id": 1 }).to_string(),
        json!({ "op": "leave", "id": 1, "now": true }).to_string(),
        json!({ "op": "interrupt", "id": 1, "run_id": "x" }).to_string(),
    ];
    world.write("lines", &(lines.join("\n") + "\n"));
    // One connection for each line, from a process below the agent's that hides its environment.
    let tries = "import socket, sys
for line in open('lines'):
    peer = socket.socket(socket.AF_UNIX)
    peer.connect(sys.argv[1])
    answers = peer.makefile()
    answers.readline()
    peer.sendall(line.encode())
    print(answers.readline().strip())
";
    world.write("tries.py", tries);
    world.hook(&format!(
        "env -i \"PATH=$PATH\" setsid python3 tries.py {} > answers; {WAITS}",
        socket.display()
    ));
    let mut editor = Editor::of(&world);
    editor.ok("run", json!({ "name": "two", "by": "ann" }));
    let _ends = Ends(editor.driver().unwrap());
    wait_until("the agent", || world.path("working-coder").exists());
    let answers = world.read("answers");
    assert_eq!(answers.lines().count(), lines.len(), "{answers}");
    for answer in answers.lines() {
        let answer: Value = serde_json::from_str(answer).unwrap();
        assert_eq!(answer["answer"]["err"]["code"], "nested", "{answer}");
    }
    assert_eq!(editor.ok("status", json!({}))["state"], "running");
    world.write("go-on", "");
    editor.wait_for("gate-opened");
}

#[test]
fn a_folder_that_cannot_be_trusted_is_not_used() {
    alone("driver_hostile::a_folder_that_cannot_be_trusted_is_not_used", &[], || {
        let dir = tempfile::tempdir().unwrap();
        let (mine, link) = (dir.path().join("mine"), dir.path().join("link"));
        std::fs::create_dir_all(mine.join("superpower")).unwrap();
        std::os::unix::fs::symlink(&mine, &link).unwrap();
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(mine.join("superpower"), std::fs::Permissions::from_mode(0o755)).unwrap();
        // Not a folder of this user's alone, and a link: another folder is used for both.
        for runtime in [&mine, &link] {
            // SAFETY: the engine's threads read copies that are taken on this one.
            unsafe { std::env::set_var("XDG_RUNTIME_DIR", runtime) };
            superpower::environ::capture();
            let place = SocketPath::of(std::path::Path::new("/a/project")).unwrap();
            assert!(place.socket().starts_with("/tmp/"), "{:?}", place.socket());
        }
        unsafe { std::env::remove_var("XDG_RUNTIME_DIR") };
    });
}

/// A driver of another version: what it says first, and what it answers.
fn other_version(world: &World, protocol: u32, driving: bool) -> std::sync::mpsc::Receiver<Value> {
    let socket = SocketPath::of(&world.root()).unwrap().socket();
    let listener = UnixListener::bind(&socket).unwrap();
    let root = world.root();
    let (sender, calls) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let hello = json!({ "superpower": "0.0.9", "protocol": protocol, "pid": 1, "root": root });
        writeln!(stream, "{hello}").unwrap();
        for line in BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok) {
            let call: Value = serde_json::from_str(&line).unwrap();
            let leaves = call["op"] == "leave" && !driving;
            let answer = match call["op"].as_str() {
                Some("hello") => json!({ "ok": { "driving": driving } }),
                Some("leave") => json!({ "ok": { "now": leaves } }),
                _ => json!({ "ok": { "state": "paused" } }),
            };
            let answer = json!({ "type": "answered", "id": call["id"], "answer": answer });
            if leaves {
                std::fs::remove_file(&socket).unwrap();
                drop(listener);
                return;
            }
            writeln!(stream, "{answer}").unwrap();
            let _ = sender.send(call);
        }
    });
    calls
}

#[test]
fn a_driver_of_another_version_without_work_is_replaced() {
    let world = World::new();
    world.declare("one", "stages:\n  - agent: coder\n");
    let _calls = other_version(&world, 1, false);
    let mut editor = Editor::of(&world);
    editor.ok("run", json!({ "name": "one", "by": "ann" }));
    let _ends = Ends(editor.driver().unwrap());
    let run = editor.wait_for_state("complete");
    assert_ne!(run["driver"]["pid"], std::process::id(), "it was driven by a new driver");
}

#[test]
fn a_driver_of_another_protocol_is_left_to_its_work_and_can_be_paused() {
    let world = World::new();
    world.declare("one", "stages:\n  - agent: coder\n");
    let calls = other_version(&world, 99, true);
    let mut editor = Editor::of(&world);
    let refused = editor.call("run", json!({ "name": "one", "by": "ann" }));
    assert_eq!(refused["err"]["code"], "other-driver", "{refused}");
    let message = refused["err"]["message"].as_str().unwrap();
    assert!(message.contains("0.0.9") && message.contains("pause"), "{message}");
    editor.until_heard("notice");
    editor.ok("pause", json!({}));
    let ops: Vec<Value> = calls.try_iter().map(|call| call["op"].clone()).collect();
    assert_eq!(ops, ["hello", "leave", "pause"]);
}

/// A driver in a restricted environment; `None` if that cannot be had here.
#[cfg(target_os = "linux")]
fn driver_in(place: crate::places::Place, world: &World) -> Option<std::process::Child> {
    let mut command = crate::child::child("drive");
    command.arg("--root").arg(world.root()).arg("--foreground");
    let driver = crate::places::in_place(place, &command)?.spawn().unwrap();
    let socket = SocketPath::of(&world.root()).unwrap().socket();
    wait_until("the driver", || socket.exists());
    Some(driver)
}

#[test]
#[cfg(target_os = "linux")]
fn a_peer_that_cannot_be_seen_is_refused_in_words_and_drives_itself() {
    let world = World::new();
    world.declare("one", "stages:\n  - agent: coder\n");
    let Some(mut driver) = driver_in(crate::places::Place::First, &world) else { return };
    let mut editor = Editor::of(&world);
    let id = editor.ask("run", json!({ "name": "one", "by": "ann" }));
    let said = editor.wait_for("notice");
    assert!(said["message"].as_str().unwrap().contains("another container; the run is driven"), "{said}");
    editor.answer(id);
    let run = editor.wait_for_state("complete");
    assert_eq!(run["driver"]["pid"], std::process::id());
    driver.kill().unwrap();
    driver.wait().unwrap();
}

#[test]
#[cfg(target_os = "linux")]
fn another_users_client_is_refused() {
    let runtime = tempfile::tempdir().unwrap();
    let environment = [("XDG_RUNTIME_DIR", runtime.path().to_str().unwrap())];
    alone("driver_hostile::another_users_client_is_refused", &environment, || {
        use std::os::unix::fs::PermissionsExt;
        if !rustix::process::geteuid().is_root() {
            return crate::places::skipped("only root can start a process of another user");
        }
        let world = World::new();
        world.declare("two", TWO_STAGES_AND_A_GATE);
        let mut editor = Editor::of(&world);
        editor.ok("run", json!({ "name": "two", "by": "ann" }));
        let _ends = Ends(editor.driver().unwrap());
        // As if somebody had opened both to everybody.
        let socket = SocketPath::of(&world.root()).unwrap().socket();
        let folder = socket.parent().unwrap();
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o711)).unwrap();
        std::fs::set_permissions(folder.parent().unwrap(), std::fs::Permissions::from_mode(0o711)).unwrap();
        std::fs::set_permissions(&socket, std::fs::Permissions::from_mode(0o666)).unwrap();
        let client = crate::child::child("connect");
        let said = Command::new("setpriv")
            .args(["--reuid=65534", "--clear-groups"])
            .arg(client.get_program())
            .arg("connect")
            .arg(&socket)
            .output()
            .unwrap();
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700)).unwrap();
        let (said, wrong) = (String::from_utf8_lossy(&said.stdout), String::from_utf8_lossy(&said.stderr));
        if wrong.contains("Permission denied") {
            return crate::places::skipped("nobody cannot start a test");
        }
        assert_eq!(said.trim(), r#"{"refused":"the driver belongs to another user"}"#, "{wrong}");
    });
}
