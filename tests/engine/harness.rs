//! Harnesses: the commands that they start, and the outcomes that they read.

use crate::alone::alone;
use crate::launched::{ended, launch_in, start};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};
use superpower::harness::*;
use superpower::outcome::Outcome;

fn command(argv: &[&str]) -> Harnesses {
    let mut harnesses = Harnesses::default();
    harnesses.named.get_mut("command").unwrap().cmd = argv.iter().map(|&s| s.to_owned()).collect();
    harnesses
}

fn shell(script: &str) -> (Vec<Signal>, Ending) {
    let dir = tempfile::tempdir().unwrap();
    let (_running, signals) = start("command", &command(&["sh", "-c", script]), launch_in(dir.path()));
    ended(&signals)
}

#[test]
fn a_commands_exit_status_decides_the_outcome() {
    let outcome = |script| shell(script).1.outcome;
    let failed = |why: &str| Outcome::Failed { why: why.to_owned() };
    assert_eq!(outcome("echo fine"), Outcome::Passed);
    assert_eq!(outcome("exit 0"), failed("no output"));
    assert_eq!(outcome("echo no; exit 1"), Outcome::Exited { why: "exit status 1".to_owned() });
    let asks = |question: &str| Outcome::NeedsHuman { question: question.to_owned() };
    assert_eq!(outcome("echo 'which colour?'; exit 2"), asks("which colour?"));
    assert_eq!(outcome("echo 'which size?' >&2; exit 3"), asks("which size?"));
    assert_eq!(outcome("echo 'no network'; exit 4"), Outcome::Blocked { why: "no network".to_owned() });
    assert_eq!(outcome("exit 77"), Outcome::Exited { why: "exit status 77".to_owned() });
    assert_eq!(
        outcome("echo x; kill -KILL $$"),
        Outcome::Exited { why: "killed by signal 9 (KILL)".to_owned() }
    );
}

#[test]
fn a_command_gets_the_prompt_and_its_placeholders() {
    let dir = tempfile::tempdir().unwrap();
    let script = r#"cat; for a; do printf '[%s]' "$a"; done"#;
    let argv =
        ["sh", "-c", script, "-", "{agent}{skill}", "{skill}", "{stage}/{run_id}", "{{agent}} {other}"];
    let mut launch = launch_in(dir.path());
    launch.run_id = "run-{agent}".to_owned();
    let (_running, signals) = start("command", &command(&argv), launch);
    let (before, ending) = ended(&signals);
    assert_eq!(ending.message, "do it[coder][][2/run-{agent}][{coder} {other}]");
    assert!(matches!(before[0], Signal::Started(Some(_))));
}

#[test]
fn a_name_that_looks_like_a_flag_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["--force", "", "a b", "-", ".hidden", "x;y"] {
        let launch = Launch { task: Task::Skill(name.to_owned()), ..launch_in(dir.path()) };
        let resolved = resolve("command", &command(&["true"]), None).unwrap();
        let error = superpower::harness::launch(&resolved, launch, |_| {}).unwrap_err();
        assert!(matches!(error, LaunchError::Name { .. }), "{error}");
    }
    assert!(is_name("team/coder:v1.2") && is_name("_x"));
}

#[test]
fn a_missing_program_says_how_to_set_another() {
    let error = resolve("command", &command(&["no-such-program"]), None).unwrap_err();
    assert_eq!(error.program, "no-such-program");
    let text = error.to_string();
    assert!(text.contains("no-such-program") && text.contains("harnesses.command.cmd"), "{text}");
    assert!(
        resolve("command", &Harnesses::default(), None).unwrap_err().to_string().contains("has no program")
    );
    assert!(resolve("nonesuch", &Harnesses::default(), None).is_err());
    let auto = resolve("auto", &Harnesses::default(), None).unwrap();
    assert!(["claude", "opencode", "manual"].contains(&&*auto.name));
}

#[test]
fn stopping_a_command_that_ignores_sigterm_takes_less_than_two_seconds() {
    let dir = tempfile::tempdir().unwrap();
    let script = "trap '' TERM; echo up; while :; do sleep 7781; done";
    let (running, signals) = start("command", &command(&["sh", "-c", script]), launch_in(dir.path()));
    while !matches!(signals.recv().unwrap(), Signal::Progress(Progress::Text { .. })) {}
    let begun = Instant::now();
    running.stop();
    let (_, ending) = ended(&signals);
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    assert_eq!(ending.outcome, Outcome::Failed { why: "stopped".to_owned() });
}

#[test]
fn kill_now_waits_for_the_end_even_if_the_driver_blocks_the_thread() {
    let dir = tempfile::tempdir().unwrap();
    let (up, is_up) = channel();
    let held = std::sync::Mutex::new(());
    let held: &'static std::sync::Mutex<()> = Box::leak(Box::new(held));
    let guard = held.lock().unwrap();
    let resolved = resolve("command", &command(&["sh", "-c", "echo up; sleep 7782"]), None).unwrap();
    let running = superpower::harness::launch(&resolved, launch_in(dir.path()), move |signal| {
        if let Signal::Started(Some(record)) = signal {
            up.send(record).unwrap();
        } else {
            drop(held.lock());
        }
    })
    .unwrap();
    let record = is_up.recv().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let begun = Instant::now();
    running.kill_now(Duration::from_millis(100));
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    assert!(!superpower::process::alive(&record));
    drop(guard);
}

#[test]
fn a_time_limit_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let launch = Launch { timeout: Some(Duration::from_millis(200)), ..launch_in(dir.path()) };
    let (_running, signals) = start("command", &command(&["sleep", "60"]), launch);
    assert_eq!(ended(&signals).1.outcome, Outcome::Failed { why: "ran longer than 200ms".to_owned() });
}

#[test]
fn manual_waits_for_a_result_and_is_refused_without_a_user() {
    let dir = tempfile::tempdir().unwrap();
    let harnesses = Harnesses::default();
    let (running, signals) = start("manual", &harnesses, launch_in(dir.path()));
    assert!(matches!(signals.recv().unwrap(), Signal::Started(None)));
    running.submit("I did it".to_owned());
    let ending = ended(&signals).1;
    assert_eq!((ending.outcome, &*ending.message), (Outcome::Passed, "I did it"));
    let (running, signals) = start("manual", &harnesses, launch_in(dir.path()));
    running.kill_now(Duration::ZERO);
    assert!(matches!(ended(&signals).1.outcome, Outcome::Failed { .. }));
    let resolved = resolve("manual", &harnesses, None).unwrap();
    let headless = Launch { interactive: false, ..launch_in(dir.path()) };
    let error = superpower::harness::launch(&resolved, headless, |_| {}).unwrap_err();
    assert!(matches!(error, LaunchError::NeedsPerson { .. }));
}

#[test]
fn a_panic_in_a_harness_is_a_failed_attempt() {
    let dir = tempfile::tempdir().unwrap();
    let (_running, signals) = start("fake", &fake(|_| vec![Step::Panic]), launch_in(dir.path()));
    let Outcome::Failed { why } = ended(&signals).1.outcome else { panic!() };
    assert_eq!(why, "internal error in the harness: the script says so");
}

#[test]
fn standard_error_comes_last_and_gets_the_room_that_the_output_leaves() {
    let dir = tempfile::tempdir().unwrap();
    let complaint = "seq 1000 1799 >&2; exit 1"; // 4000 bytes
    for (output, begins) in [("echo out", "out\n1000\n"), ("seq 1000 1799", "90\n1391\n")] {
        let script = format!("{output}; {complaint}");
        let (_running, signals) = start("command", &command(&["sh", "-c", &script]), launch_in(dir.path()));
        let tail = ended(&signals).1.tail;
        assert!(tail.starts_with(begins) && tail.ends_with("1798\n1799\n"), "{tail}");
        assert!(tail.len() <= 4096);
    }
}

#[test]
fn secrets_are_masked_in_all_signals_even_in_pieces() {
    let name = "harness::secrets_are_masked_in_all_signals_even_in_pieces";
    alone(name, &[("MY_SERVICE_TOKEN", "very-secret-value")], secrets_are_masked);
}

fn secrets_are_masked() {
    let dir = tempfile::tempdir().unwrap();
    let script = "echo before $MY_SERVICE_TOKEN; echo again $MY_SERVICE_TOKEN >&2; exit 2";
    let (_running, signals) = start("command", &command(&["sh", "-c", script]), launch_in(dir.path()));
    let (before, ending) = ended(&signals);
    assert!(!format!("{before:?}{ending:?}").contains("very-secret"));
    assert_eq!(ending.message, "before ***");
    let log = std::fs::read_to_string(dir.path().join("output.log")).unwrap();
    assert!(log.contains("before ***") && log.contains("stderr: again ***"), "{log}");
    let piece = |text: &str| Step::Tell(Signal::Progress(Progress::Text { text: text.to_owned() }));
    let steps = vec![piece("a very-sec"), piece("ret-value é very"), piece("-é")];
    let (_running, signals) = start("fake", &fake(move |_| steps.clone()), launch_in(dir.path()));
    let text = |signal: &Signal| match signal {
        Signal::Progress(Progress::Text { text }) => text.clone(),
        _ => String::new(),
    };
    assert_eq!(ended(&signals).0.iter().map(text).collect::<String>(), "a *** é very-é");
}
