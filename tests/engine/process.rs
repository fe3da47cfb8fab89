//! Processes: limits, stopping, and leftover descendants.

use crate::alone::alone;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use superpower::process::*;
use superpower::store::beneath::Door;

/// A shell script as a process, in `root`.
fn spec(root: &Path, script: &str) -> Spec {
    Spec {
        program: "/bin/sh".into(),
        args: vec!["-c".into(), script.into()],
        env: Vec::new(),
        root: root.to_path_buf(),
        stdin: Stdin::Once(Vec::new()),
        log: root.join("output.log"),
        door: Door::state(root),
        max_output: 1 << 30,
        max_line: 1 << 20,
        timeout: None,
        idle: None,
        mark: Mark { run_id: uuid::Uuid::new_v4().to_string(), stage: 3, launch: 7 },
    }
}

struct Seen {
    out: Vec<u8>,
    limits: Vec<Limit>,
    exit: Exit,
    took: Duration,
}

fn run(spec: Spec) -> Seen {
    run_with(spec, &Secrets::default(), |_, _| {})
}

/// Runs to the end, and calls `each` after every event.
fn run_with(spec: Spec, secrets: &Secrets, mut each: impl FnMut(&mut Process<()>, &Event<()>)) -> Seen {
    let begun = Instant::now();
    let mut process = spawn::<()>(spec, &Environment::current(), secrets, Arc::default()).unwrap();
    let (mut out, mut limits) = (Vec::new(), Vec::new());
    loop {
        let event = process.next(None);
        each(&mut process, &event);
        match event {
            Event::Chunk(Stream::Stdout, chunk) => out.extend(chunk),
            Event::Limit(limit) => {
                limits.push(limit);
                process.stop(Duration::ZERO, Duration::from_millis(200));
            }
            Event::Over(exit) => return Seen { out, limits, exit, took: begun.elapsed() },
            _ => {}
        }
    }
}

/// A unique number of seconds for which a test's processes sleep, to identify them.
fn nap(n: u32) -> String {
    format!("777{n}.{}", std::process::id())
}

fn until_it_lives(nap: &str) {
    let end = Instant::now() + Duration::from_secs(20);
    while !lives(nap) {
        assert!(Instant::now() < end, "{nap} was not started");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Whether a process with this argument is running, not counting zombies.
fn lives(argument: &str) -> bool {
    std::fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let name = entry.file_name();
        let Some(pid) = name.to_str().and_then(|n| n.parse::<u32>().ok()) else { return false };
        std::fs::read(format!("/proc/{pid}/cmdline"))
            .is_ok_and(|c| c.split(|&b| b == 0).any(|a| a == argument.as_bytes()))
            && record(pid).is_some()
    })
}

#[test]
fn a_prompt_of_2_mib_arrives_byte_for_byte() {
    let dir = tempfile::tempdir().unwrap();
    let prompt: Vec<u8> = (0..2 << 20).map(|i| (i % 251) as u8).collect();
    let mut spec = spec(dir.path(), "cat > prompt; cat prompt");
    spec.stdin = Stdin::Once(prompt.clone());
    let seen = run(spec);
    assert_eq!(seen.exit, Exit::Code(0));
    assert!(seen.out == prompt);
    assert!(std::fs::read(dir.path().join("prompt")).unwrap() == prompt);
    assert!(std::fs::read(dir.path().join("output.log")).unwrap() == prompt);
}

#[test]
fn it_works_in_the_root_with_the_mark_and_without_the_editors_marks() {
    let names = ["NVIM", "VIMRUNTIME", "MYVIMRC", "CLAUDECODE", "SUPERPOWER_OTHER"];
    let test = "process::it_works_in_the_root_with_the_mark_and_without_the_editors_marks";
    alone(test, &names.map(|name| (name, "here")), it_works_in_the_root);
}

fn it_works_in_the_root() {
    assert_eq!(std::env::var("VIMRUNTIME").as_deref(), Ok("here"));
    let dir = tempfile::tempdir().unwrap();
    let spec = spec(dir.path(), "pwd; env");
    let run_id = spec.mark.run_id.clone();
    let text = String::from_utf8(run(spec).out).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], dir.path().canonicalize().unwrap().to_str().unwrap());
    assert!(lines.contains(&&*format!("SUPERPOWER_RUN_ID={run_id}")));
    assert!(lines.contains(&"SUPERPOWER_STAGE=3") && lines.contains(&"SUPERPOWER_ATTEMPT=7"));
    assert!(!text.contains("=here"), "{text}");
}

#[test]
fn a_program_begins_with_no_signal_blocked_and_none_newly_ignored() {
    // Not a shell, because a shell may change signal handling itself.
    let dir = tempfile::tempdir().unwrap();
    let mut spec = spec(dir.path(), "");
    (spec.program, spec.args) = ("/bin/cat".into(), vec!["/proc/self/status".into()]);
    let text = String::from_utf8(run(spec).out).unwrap();
    let own = std::fs::read_to_string("/proc/self/status").unwrap();
    let mask = |text: &str, name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        u64::from_str_radix(line.trim(), 16).unwrap()
    };
    assert_eq!(mask(&text, "SigBlk:"), 0, "{text}");
    // Ignored signals are inherited from the parent; Rust also ignores SIGPIPE.
    let ignored = mask(&own, "SigIgn:") & !(1 << (libc::SIGPIPE - 1));
    let newly = mask(&text, "SigIgn:") & !ignored;
    // Signals above 31 are reserved by libc.
    assert_eq!(newly & 0x7fff_ffff, 0, "{text}");
}

#[test]
fn the_wall_clock_ends_a_tree_that_ignores_term() {
    let dir = tempfile::tempdir().unwrap();
    let mut spec = spec(
        dir.path(),
        &"trap '' TERM; (trap '' TERM; sleep NAP) & sleep NAP; sleep NAP".replace("NAP", &nap(1)),
    );
    spec.timeout = Some(Duration::from_millis(300));
    let seen = run(spec);
    assert_eq!(seen.limits, [Limit::Wall(Duration::from_millis(300))]);
    assert_eq!(seen.exit, Exit::Signal(libc::SIGKILL));
    assert!(seen.took < Duration::from_secs(2), "{:?}", seen.took);
    assert!(!lives(&nap(1)));
}

#[test]
fn silence_is_a_limit_and_noise_on_either_stream_resets_it() {
    let dir = tempfile::tempdir().unwrap();
    let mut spec = spec(dir.path(), "for i in 1 2 3 4; do sleep 0.2; echo a >&2; done; sleep 60");
    spec.idle = Some(Duration::from_millis(500));
    let seen = run(spec);
    assert_eq!(seen.limits, [Limit::Idle(Duration::from_millis(500))]);
    assert!(seen.took > Duration::from_millis(1200) && seen.took < Duration::from_secs(4), "{:?}", seen.took);
}

#[test]
fn silence_while_busy_is_no_limit() {
    let dir = tempfile::tempdir().unwrap();
    let mut spec = spec(dir.path(), "sleep 0.8; echo done");
    spec.idle = Some(Duration::from_millis(200));
    let mut process =
        spawn::<()>(spec, &Environment::current(), &Secrets::default(), Arc::default()).unwrap();
    process.set_busy(true);
    loop {
        match process.next(None) {
            Event::Limit(limit) => panic!("{limit:?}"),
            Event::Chunk(..) => process.set_busy(false),
            Event::Over(exit) => break assert_eq!(exit, Exit::Code(0)),
            _ => {}
        }
    }
}

#[test]
fn reading_ends_soon_after_the_exit_and_what_escaped_is_ended() {
    let dir = tempfile::tempdir().unwrap();
    // The child leaves the group and the session, loses its parent, and keeps the pipe open.
    let script =
        "(setsid sh -c 'trap \"\" TERM; sleep NAP; sleep NAP' &) ; echo said; exit 5".replace("NAP", &nap(2));
    let seen = run(spec(dir.path(), &script));
    assert_eq!((seen.exit, seen.out), (Exit::Code(5), b"said\n".to_vec()));
    assert!(seen.took < Duration::from_secs(3), "{:?}", seen.took);
    assert!(!lives(&nap(2)));
}

#[test]
fn what_cleared_its_environment_is_found_by_its_parents() {
    let dir = tempfile::tempdir().unwrap();
    let mut spec = spec(dir.path(), &format!("env -i setsid sleep {} & sleep {}", nap(3), nap(4)));
    spec.timeout = Some(Duration::from_millis(300));
    run(spec);
    assert!(!lives(&nap(3)) && !lives(&nap(4)));
}

#[test]
fn a_dropped_process_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let spec = spec(dir.path(), &format!("setsid sleep {0} & sleep {0}", nap(5)));
    let process = spawn::<()>(spec, &Environment::current(), &Secrets::default(), Arc::default()).unwrap();
    until_it_lives(&nap(5));
    drop(process);
    assert!(!lives(&nap(5)));
}

#[test]
fn a_sweep_ends_what_an_earlier_drive_left() {
    let dir = tempfile::tempdir().unwrap();
    let mark = Mark { run_id: uuid::Uuid::new_v4().to_string(), stage: 1, launch: 1 };
    let start = |script: &str| {
        let mut command = std::process::Command::new("/bin/sh");
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.args(["-c", script]).env("SUPERPOWER_RUN_ID", &mark.run_id).current_dir(dir.path());
        command.spawn().unwrap()
    };
    let mut child = start(
        &"(setsid sh -c 'trap \"\" TERM; sleep ONE; sleep ONE' &); sleep TWO"
            .replace("ONE", &nap(6))
            .replace("TWO", &nap(7)),
    );
    until_it_lives(&nap(6));
    until_it_lives(&nap(7));
    let known = record(child.id()).unwrap();
    assert!(alive(&known));
    let reaper = std::thread::spawn(move || child.wait());
    let said = sweep(std::slice::from_ref(&known), &mark.run_id);
    assert!(said.len() >= 3, "{said:?}");
    reaper.join().unwrap().unwrap();
    assert!(!alive(&known) && !lives(&nap(6)) && !lives(&nap(7)));
    assert!(sweep(&[known], &mark.run_id).is_empty());
}

#[test]
fn a_sweep_leaves_a_process_that_only_has_the_same_id() {
    let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
    let real = record(child.id()).unwrap();
    let mut earlier = real.clone();
    earlier.start_time -= 1;
    let mut other_boot = real.clone();
    other_boot.boot_id = "another".to_owned();
    assert!(sweep(&[earlier, other_boot], "no such run").is_empty());
    assert!(alive(&real));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn lines_survive_every_chunk_edge() {
    let text = "päivä\r\n\n€ und 𝄞\nlast";
    for size in 1..text.len() {
        let mut lines = Lines::new(1024);
        let mut got = Vec::new();
        for chunk in text.as_bytes().chunks(size) {
            lines.push(chunk, |line| got.push((line.text.into_owned(), line.lost)));
        }
        lines.finish(|line| got.push((line.text.into_owned(), line.lost)));
        let expected = ["päivä", "", "€ und 𝄞", "last"].map(|l| (l.to_owned(), 0));
        assert_eq!(got, expected, "chunks of {size}");
    }
}

#[test]
fn a_line_beyond_the_cap_is_cut_and_says_so() {
    let mut lines = Lines::new(10);
    let mut got = Vec::new();
    for chunk in [&b"0123456"[..], b"789abcdef", b"gh\nshort\n"] {
        lines.push(chunk, |line| got.push((line.text.into_owned(), line.lost)));
    }
    assert_eq!(got, [("01234567gh".to_owned(), 8), ("short".to_owned(), 0)]);
}

#[test]
fn secrets_are_masked_at_every_chunk_edge() {
    let secrets =
        Secrets::new(["sk-12345678".to_owned(), "sk-12345678-longer".to_owned(), "with\"quote".to_owned()]);
    let text = "a sk-12345678 b sk-12345678-longer c sk-12345678-long d with\"quote {\"k\":\"with\\\"quote\"} sk-123";
    let expected = "a *** b *** c ***-long d *** {\"k\":\"***\"} sk-123";
    assert_eq!(secrets.mask(text), expected);
    for size in 1..text.len() {
        let mut masker = secrets.stream();
        let mut shown = Vec::new();
        for chunk in text.as_bytes().chunks(size) {
            shown.extend_from_slice(&masker.push(chunk));
        }
        shown.extend(masker.finish());
        assert_eq!(String::from_utf8(shown).unwrap(), expected, "chunks of {size}");
    }
}

#[test]
fn the_output_file_is_masked_and_bounded_and_tells_the_streams_apart() {
    let dir = tempfile::tempdir().unwrap();
    let secrets = Secrets::new(["topsecret-value".to_owned()]);
    let mut spec = spec(
        dir.path(),
        "printf 'one topsec'; sleep 0.1; echo ret-value; echo err >&2; sleep 0.1; seq 100000",
    );
    spec.max_output = 100;
    run_with(spec, &secrets, |_, _| {});
    let log = std::fs::read_to_string(dir.path().join("output.log")).unwrap();
    for line in ["one ***", "stderr: err", "1", "2"] {
        assert!(log.lines().any(|l| l == line), "{line} in {log}");
    }
    assert!(log.trim_end().ends_with("more bytes were not kept]") && log.len() < 200, "{log}");
}
