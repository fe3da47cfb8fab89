//! What a stage costs beside the process that it starts, how that grows, and how fast a project with a past opens.
//!
//! A file system may need more time for the files of a stage than the stage itself: ext4 without a journal walks over
//! every inode that was deleted in the last five seconds before it makes a new one. So the stage is measured in memory
//! as well, where it is only our own time.
//!
//! `make bench`, or `cargo bench --profile torture --no-default-features --bench run [STAGES] [WORKFLOW_TOOL]`. The
//! figures to hold: at most twice a bare spawn of the same program for a stage, journal flushed; time, memory and
//! journal that grow with the stages; less than 20 ms for a project with 1,000 past runs. `WORKFLOW_TOOL` is the `cpf`
//! of checkpointflow, measured as a peer where it is given. `look` in the place of the stages measures only what a
//! gate's list of changes takes, `past` only how a project with a past opens, `launches` only what the launcher costs: at
//! most 0.2 ms. It judges nothing.

mod support;

use serde_json::json;
use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use superpower::process::{
    Environment, Event, Inbox, Item, Mark, Process, Secrets, Spec, Stdin, spawn, spawn_in_group,
};
use superpower::project::review::Review;
use superpower::store::beneath::Door;
use superpower::store::state::State;
use support::{PROGRAM, Project};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    if let [mode, stages] = args.as_slice()
        && mode == "--one"
    {
        return one(stages.parse().expect("a number"));
    }
    if args.iter().any(|arg| arg == "look") {
        return look(2_000);
    }
    if args.iter().any(|arg| arg == "past") {
        return past(1_000);
    }
    if args.iter().any(|arg| arg == "launches") {
        return launches(1_000);
    }
    // Deleted at the end only: file systems are slow where much was deleted just before.
    let place = tempfile::tempdir().expect("a directory");
    let place = place.path();
    let stages: usize = args.iter().find_map(|arg| arg.parse().ok()).unwrap_or(500);
    let bare = bare(stages);
    say(&format!("{:<52} {:>9.3} ms", format!("a bare spawn of {}", PROGRAM.join(" ")), bare));
    let ours = measured(stages, place);
    let line = |what: &str, ms: f64| say(&format!("{what:<52} {ms:>9.3} ms  {:.2} x bare", ms / bare));
    line(&format!("a stage of {stages}, journal flushed"), ours.ms / stages as f64);
    if let Ok(memory) = tempfile::tempdir_in("/dev/shm") {
        let ours = measured(stages, memory.path());
        line(&format!("a stage of {stages}, on a disk of memory"), ours.ms / stages as f64);
    }
    match args.iter().find(|arg| arg.contains('/')) {
        Some(tool) => line("a step of checkpointflow", peer(Path::new(tool))),
        None => say("a step of checkpointflow: not installed, not measured"),
    }
    say("a task of overseer.nvim: in no package registry, not measured");
    say("");
    say(&format!(
        "{:<12} {:>12} {:>12} {:>14} {:>12}",
        "stages", "ms", "ms a stage", "peak memory", "journal"
    ));
    for stages in [10, 100, 1_000, 10_000] {
        let it = measured(stages, place);
        say(&format!(
            "{stages:<12} {:>12.0} {:>12.3} {:>10} KiB {:>8} KiB",
            it.ms,
            it.ms / stages as f64,
            it.memory,
            it.journal >> 10
        ));
    }
    say("");
    past(1_000);
    say("");
    launches(1_000);
    say("");
    look(2_000);
}

/// What a launch takes by the launcher, beside one as a child of the engine, in turn; and the launcher's memory.
fn launches(times: usize) {
    let dir = tempfile::tempdir().expect("a directory");
    let spec = || Spec {
        program: PROGRAM[0].into(),
        args: PROGRAM[1..].iter().map(Into::into).collect(),
        env: Vec::new(),
        root: dir.path().to_path_buf(),
        stdin: Stdin::Once(Vec::new()),
        log: dir.path().join("output.log"),
        door: Door::state(dir.path()),
        max_output: 1 << 20,
        max_line: 1 << 20,
        timeout: None,
        idle: None,
        mark: Mark { run_id: "bench".to_owned(), stage: 1, launch: 1 },
    };
    let environment = Environment::current();
    let time = |way: Way| {
        let begun = Instant::now();
        let mut process = way(spec(), &environment, &Secrets::default(), Arc::default()).expect("a process");
        while !matches!(process.next(None), Event::Over(_)) {}
        ms(begun.elapsed())
    };
    let (mut launched, mut children): (Vec<f64>, Vec<f64>) =
        (0..times).map(|_| (time(spawn), time(spawn_in_group))).unzip();
    let median = |all: &mut Vec<f64>| {
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    };
    let (ours, bare) = (median(&mut launched), median(&mut children));
    say(&format!("{:<52} {bare:>9.3} ms", "a launch as a child of the engine, median"));
    say(&format!("{:<52} {ours:>9.3} ms  {:+.3} ms", "a launch by the launcher, median", ours - bare));
    for pid in guards() {
        let read = |file: &str| fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap_or_default();
        let status = read("status") + &read("smaps_rollup");
        let line =
            |name: &str| status.lines().find_map(|it| it.strip_prefix(name)).unwrap_or("?").trim().to_owned();
        let (name, all, share, own) = (line("Name:"), line("VmRSS:"), line("Pss:"), line("RssAnon:"));
        say(&format!(
            "{:<52} {share:>12}, {own} of it its own; with all that it shares {all}",
            format!("memory of {name}")
        ));
    }
}

/// A way to start a process.
type Way = fn(Spec, &Environment, &Secrets, Arc<Inbox<Item<()>>>) -> std::io::Result<Process<()>>;

/// The children of this process that stay.
fn guards() -> Vec<String> {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let lists = threads.map(|thread| fs::read_to_string(thread.path().join("children")).unwrap_or_default());
    lists.flat_map(|list| list.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// What a gate's list of changes takes: the first look, which begins with an empty store, and those that follow.
fn look(files: usize) {
    let dir = tempfile::tempdir().expect("a directory");
    let (root, state) = (dir.path().join("project"), State::at(Some(&dir.path().join("state"))));
    for file in 0..files {
        let path = root.join(format!("src/{}/{file}.rs", file % 50));
        fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
        fs::write(path, format!("fn f{file}() {{}}\n")).expect("a file");
    }
    let git = |args: &[&str]| {
        let args = [&["-c", "user.name=t", "-c", "user.email=t@t"], args].concat();
        let status = Command::new("git").args(args).current_dir(&root).status().expect("git");
        assert!(status.success());
    };
    for args in ["init -q", "add -A", "commit -qm x"] {
        git(&args.split(' ').collect::<Vec<_>>());
    }
    let root = root.canonicalize().expect("a directory");
    let state = state.expect("a state");
    let look = |n: usize| {
        fs::write(root.join("changed"), n.to_string()).expect("a file");
        let begun = Instant::now();
        Review::open(&root, &state).and_then(|review| review.snapshot()).expect("a tree");
        ms(begun.elapsed())
    };
    let first = look(0);
    let mut later: Vec<f64> = (1..=20).map(look).collect();
    later.sort_by(f64::total_cmp);
    say(&format!("{:<52} {first:>9.3} ms", format!("the first look at {files} files")));
    say(&format!("{:<52} {:>9.3} ms", "a look after that, the quickest of 20", later[0]));
}

fn say(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Milliseconds of a spawn whose output is read, as the least that anybody can do.
fn bare(times: usize) -> f64 {
    let begun = Instant::now();
    for _ in 0..times {
        let mut child = Command::new(PROGRAM[0])
            .args(&PROGRAM[1..])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program");
        let mut text = String::new();
        child.stdout.take().expect("a pipe").read_to_string(&mut text).expect("its output");
        child.wait().expect("its end");
    }
    ms(begun.elapsed()) / times as f64
}

/// What a run of so many stages took.
struct Measured {
    ms: f64,
    memory: u64,
    journal: u64,
}

/// In a process of its own, whose peak of memory is the run's.
fn measured(stages: usize, place: &Path) -> Measured {
    let program = std::env::current_exe().expect("this program");
    let mut command = Command::new(program);
    command.args(["--one", &stages.to_string()]).env("TMPDIR", place);
    let out = command.output().expect("this program");
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(out.status.success(), "{text}{}", String::from_utf8_lossy(&out.stderr));
    let mut words = text.split_whitespace();
    let mut next = || words.next().expect("three figures");
    let ms = next().parse().expect("milliseconds");
    let (memory, journal) = (next().parse().expect("memory"), next().parse().expect("a size"));
    Measured { ms, memory, journal }
}

fn one(stages: usize) {
    let project = Project::new(stages);
    let begun = Instant::now();
    let run_id = project.run();
    let took = ms(begun.elapsed());
    let journal = project.path(&format!(".claude/state/runs/{run_id}/journal.jsonl"));
    let journal = fs::metadata(journal).expect("a journal").len();
    say(&format!("{took} {} {journal}", peak()));
    std::mem::forget(project);
}

/// The most memory that this process has used, in KiB.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("VmHWM 0");
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// What an editor asks when it opens a project that has so many finished runs.
fn past(runs: usize) {
    let project = Project::new(13);
    project.fill(runs);
    let engine = project.another_engine();
    let root = &project.root;
    for op in ["status", "runs", "status", "runs"] {
        let begun = Instant::now();
        let answer = engine.call(&json!({ "op": op, "root": root }).to_string());
        let took = ms(begun.elapsed());
        assert!(answer.contains("complete"), "{answer}");
        say(&format!("{:<52} {took:>9.3} ms", format!("\"{op}\" of a project with {runs} past runs")));
    }
}

/// Milliseconds of a step of checkpointflow: a long workflow, less a short one, which takes its start away.
fn peer(tool: &Path) -> f64 {
    let dir = tempfile::tempdir().expect("a directory");
    let run = |steps: usize| {
        let mut text =
            "schema_version: checkpointflow/v1\nworkflow:\n  id: many\n  name: Many\n  version: 0.1.0\n  inputs: {type: object}\n  steps:\n".to_owned();
        for step in 1..=steps {
            text += &format!("    - {{id: s{step}, kind: cli, command: {}}}\n", PROGRAM.join(" "));
        }
        let file = dir.path().join(format!("many-{steps}.yaml"));
        fs::write(&file, text).expect("a workflow");
        let begun = Instant::now();
        let out = Command::new(tool)
            .args(["run", "-f"])
            .arg(&file)
            .args(["--input", "{}"])
            .env("HOME", dir.path())
            .current_dir(dir.path())
            .output()
            .expect("the tool");
        assert!(
            out.status.success(),
            "{}{}",
            String::from_utf8_lossy(&out.stdout),
            String::from_utf8_lossy(&out.stderr)
        );
        ms(begun.elapsed())
    };
    run(5);
    let (few, many) = (run(10), run(210));
    (many - few) / 200.0
}
