//! How fast an agent's stream is read: in memory, and through a process with its output file and masks.
//!
//! `cargo bench --no-default-features --bench stream [MEGABYTES]`; the figures to hold are 500,000 lines a second on one
//! core, and constant memory.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use superpower::harness::*;
use superpower::store::beneath::Door;

fn main() {
    let megabytes = std::env::args().filter_map(|arg| arg.parse().ok()).next().unwrap_or(256);
    let deltas = delta_lines();
    in_memory("claude", "text as it comes, 190 bytes a line", &deltas);
    in_memory("claude", "a recorded run, all kinds of lines", &recorded_lines("claude-work"));
    in_memory(
        "opencode",
        "a recorded server of OpenCode, all kinds of events",
        &recorded_lines("opencode-served-work"),
    );
    through_a_process(&deltas, megabytes);
}

fn say(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// What floods: pieces of text, as they come.
fn delta_lines() -> Vec<String> {
    let line = |n: usize| {
        format!(
            r#"{{"type":"stream_event","event":{{"type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":"some words {n:06} "}}}},"session_id":"b2cdf703-1aae-428c-82e4-79b92ed174f4","uuid":"x"}}"#
        )
    };
    (0..1000).map(line).collect()
}

/// The lines of a recorded run.
fn recorded_lines(name: &str) -> Vec<String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/transcripts/{name}.log"));
    let text = std::fs::read_to_string(file).expect("a recording");
    text.lines().filter(|line| line.starts_with('{')).map(ToOwned::to_owned).collect()
}

fn launch_in(dir: &Path) -> Launch {
    Launch {
        run_id: "bench".to_owned(),
        stage: 1,
        launch: 1,
        task: Task::Agent("coder".to_owned()),
        prompt: "go".to_owned(),
        session: None,
        root: dir.to_path_buf(),
        dir: dir.to_path_buf(),
        door: Door::state(dir),
        timeout: Some(Duration::from_secs(600)),
        idle: None,
        interactive: false,
    }
}

fn resolved(tool: &str, program: PathBuf) -> Resolved {
    let mut harnesses = Harnesses::default();
    harnesses.max_output = 1 << 20;
    harnesses.named.insert(
        tool.to_owned(),
        Settings { cmd: vec![program.to_string_lossy().into_owned()], args: Vec::new() },
    );
    resolve(tool, &harnesses, None).expect("a program")
}

fn in_memory(tool: &str, what: &str, lines: &[String]) {
    let mut harness = of(
        &resolved(tool, "/bin/sh".into()),
        &launch_in(Path::new("/")),
        &superpower::process::Secrets::default(),
    );
    harness.invocation();
    let (begun, spent) = (Instant::now(), cpu());
    let mut read: u64 = 0;
    while begun.elapsed() < Duration::from_secs(3) {
        for line in lines {
            let mut to = Actions::default();
            harness.line(line, 0, &mut to);
            read += 1;
        }
    }
    let rate = read as f64 / (cpu() - spent);
    let bytes: usize = lines.iter().map(String::len).sum::<usize>() / lines.len();
    say(&format!(
        "{what}: {rate:.0} lines a second of one core ({bytes} bytes a line, {:.0} MB/s)",
        rate * bytes as f64 / 1e6
    ));
}

fn through_a_process(lines: &[String], megabytes: u64) {
    let dir = std::env::temp_dir().join(format!("superpower-bench-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a folder");
    let block = lines.join("\n") + "\n";
    std::fs::write(dir.join("block"), &block).expect("a file");
    let times = (megabytes << 20) / block.len() as u64;
    let script = format!("#!/bin/sh\ni=0\nwhile [ $i -lt {times} ]; do cat block; i=$((i+1)); done\n");
    let program = dir.join("agent");
    std::fs::write(&program, script).expect("a script");
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("its mode");
    let text = Arc::new(AtomicU64::new(0));
    let (sender, ended) = std::sync::mpsc::channel();
    let (before, begun, spent, seen) = (peak(), Instant::now(), cpu(), text.clone());
    let running = launch(&resolved("claude", program), launch_in(&dir), move |signal| match signal {
        Signal::Progress(Progress::Text { text }) => _ = seen.fetch_add(text.len() as u64, Ordering::Relaxed),
        Signal::Ended(_) => _ = sender.send(()),
        _ => {}
    });
    let _running = running.expect("a launch");
    ended.recv().expect("an end");
    let (seconds, spent) = (begun.elapsed().as_secs_f64(), cpu() - spent);
    let read = times * lines.len() as u64;
    say(&format!(
        "through a process, {megabytes} MB: {:.0} lines a second of one core, {:.0} by the clock; {} MB of text shown, {} MB more memory",
        read as f64 / spent,
        read as f64 / seconds,
        text.load(Ordering::Relaxed) >> 20,
        (peak() - before) >> 20
    ));
    let _ = std::fs::remove_dir_all(dir);
}

/// Seconds of one core that this process has used, so that what else the machine does is not measured.
fn cpu() -> f64 {
    // SAFETY: the structure is plain numbers, for which zero is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is a rusage.
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut usage) };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

/// The most memory that this process has used, in bytes.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok()).unwrap_or_default() << 10
}
