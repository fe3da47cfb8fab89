//! Drives runs without the engine: a host with a clock that the test moves, and agents that are scripts.

use chrono::{DateTime, Duration, TimeZone, Utc};
use serde_json::Value;
use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;
use superpower::check::{self, Context};
use superpower::config::{Config, Trust};
use superpower::driver::Host;
use superpower::driver::handle::Handle;
use superpower::driver::lock::StartError;
use superpower::driver::start::{self, Admission, NewRun};
use superpower::harness::{Launch, Step, fake};
use superpower::outcome::Outcome;
use superpower::plan::{Inputs, Plan};
use superpower::process::Secrets;
use superpower::run::event::{Event, Record};
use superpower::runs::open::Opened;
use superpower::store::journal::{self, Place};
use superpower::store::keyring::Keyring;
use superpower::store::rundir::RunDir;
use superpower::store::state::State;

/// A project with such a host.
pub struct Stage {
    dir: tempfile::TempDir,
    _state: tempfile::TempDir,
    clock: Arc<AtomicI64>,
    /// The events for the editor.
    pub told: Arc<Mutex<Vec<Value>>>,
    /// The state of each snapshot, and those of `squad.json` and the run's summary at that moment.
    pub states: Arc<Mutex<Vec<[Value; 3]>>>,
    /// The host of the drives.
    pub host: Arc<Host>,
}

/// The start time of the clock.
pub fn noon() -> DateTime<Utc> {
    Utc.with_ymd_and_hms(2026, 2, 13, 12, 0, 0).unwrap()
}

impl Stage {
    /// Agents that play the steps of `script` for each launch.
    pub fn new(script: impl Fn(&Launch) -> Vec<Step> + Send + Sync + 'static) -> Self {
        Self::with(script, |_| {})
    }

    /// Agents whose launches end with these outcomes in order, and pass after that.
    pub fn ending(outcomes: Vec<Outcome>) -> Self {
        let next = AtomicUsize::new(0);
        Self::new(move |_| {
            let outcome = outcomes.get(next.fetch_add(1, Ordering::SeqCst)).cloned();
            vec![Step::End(outcome.unwrap_or(Outcome::Passed), "done".into())]
        })
    }

    /// The same with another configuration.
    pub fn with(
        script: impl Fn(&Launch) -> Vec<Step> + Send + Sync + 'static,
        configure: impl FnOnce(&mut Config),
    ) -> Self {
        let dir = tempfile::Builder::new().prefix("superpower-").tempdir().unwrap();
        let clock = Arc::new(AtomicI64::new(noon().timestamp_millis()));
        let told = Arc::new(Mutex::new(Vec::new()));
        let states = Arc::new(Mutex::new(Vec::new()));
        let (now, listener, seen) = (clock.clone(), told.clone(), states.clone());
        let state = dir.path().join(".claude/state");
        let kept = tempfile::tempdir().unwrap();
        let mut config = Config { harness: "fake".into(), trust: Trust::Always, ..Config::default() };
        configure(&mut config);
        let host = Host {
            exit_words: "the editor exited",
            has_lua: Box::new(|| true),
            call_user: Box::new(|_| {}),
            publish: Box::new(move |_, event| {
                let event: Value = serde_json::from_str(&event).unwrap();
                if event["type"] == "snapshot" {
                    let run = &event["run"];
                    let summary = format!("runs/{}/summary.json", run["run_id"].as_str().unwrap_or_default());
                    let kept = |path: &str, field: &str| {
                        let text = std::fs::read_to_string(state.join(path)).unwrap_or_default();
                        serde_json::from_str::<Value>(&text).unwrap_or_default()[field].clone()
                    };
                    let states =
                        [run["state"].clone(), kept("squad.json", "status"), kept(&summary, "state")];
                    seen.lock().unwrap().push(states);
                }
                listener.lock().unwrap().push(event);
            }),
            clock: Box::new(move || Utc.timestamp_millis_opt(now.load(Ordering::SeqCst)).unwrap()),
            config,
            harnesses: fake(script),
            secrets: Secrets::default(),
            keys: Keyring::open(State::at(Some(&kept.path().join("superpower")))),
            unwritten: Arc::default(),
        };
        Self { dir, _state: kept, clock, told, states, host: Arc::new(host) }
    }

    /// The project's root.
    pub fn root(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    /// Moves the clock forward.
    pub fn passes(&self, time: Duration) {
        self.clock.fetch_add(time.num_milliseconds(), Ordering::SeqCst);
    }

    /// Starts a run of these stages.
    pub fn start(&self, stages: &str) -> Handle {
        self.try_start(stages).unwrap()
    }

    /// The same, which may fail.
    pub fn try_start(&self, stages: &str) -> Result<Handle, StartError> {
        self.begin(
            &format!("name: play\ndescription: d\nversion: '1'\nstages:\n{stages}"),
            &Context::default(),
            &Inputs::new(),
        )
    }

    /// Starts a run of a whole declaration, with facts of the user's own.
    pub fn start_text(&self, text: &str, context: &Context, inputs: &Inputs) -> Handle {
        self.begin(text, context, inputs).unwrap()
    }

    fn begin(&self, text: &str, context: &Context, inputs: &Inputs) -> Result<Handle, StartError> {
        let checked = check::check(text, context);
        let plan = Plan::new(checked.declaration.unwrap(), inputs).unwrap();
        let new = NewRun {
            plan,
            declaration: text.as_bytes().to_vec(),
            inputs: inputs.clone(),
            harness: None,
            by: "ann".into(),
            adopted: None,
        };
        let handle = start::begin(self.host.clone(), &self.root(), new)?;
        handle.go();
        Ok(handle)
    }

    /// Continues a run with these events.
    pub fn take_up(&self, run_id: &str, events: Vec<Event>) -> Result<Handle, StartError> {
        let admit = |_: &Opened| Ok(Admission::Whole);
        let handle =
            start::take_up(self.host.clone(), &self.root(), run_id, admit, |_| Ok::<_, StartError>(events))?;
        handle.go();
        Ok(handle)
    }

    /// Resumes a run.
    pub fn resume(&self, run_id: &str) -> Handle {
        self.take_up(run_id, vec![Event::Resumed { by: "ann".into(), how: None }]).unwrap()
    }

    /// The run as its journal has it.
    pub fn journal(&self, run_id: &str) -> Vec<Record> {
        let dir = RunDir::of(&self.root(), run_id).unwrap();
        journal::read(&Place::new(&dir, &self.host.keys)).unwrap().records
    }

    /// The number of started agents.
    pub fn launches(&self, run_id: &str) -> usize {
        let started = |record: &&Record| matches!(&record.event, Event::AgentStarted { .. });
        let mut launches: Vec<u32> = self
            .journal(run_id)
            .iter()
            .filter(started)
            .map(|record| match record.event {
                Event::AgentStarted { launch, .. } => launch,
                _ => 0,
            })
            .collect();
        launches.dedup();
        launches.len()
    }

    /// The log without its prefix.
    pub fn log(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.root().join(".claude/logs/superpower.log"));
        let lines = text.unwrap_or_default();
        lines.lines().map(|line| line.strip_prefix("[superpower] ").unwrap().to_owned()).collect()
    }
}

/// Waits for the end of the drive, and returns its last snapshot.
pub fn over(handle: &Handle) -> Value {
    assert!(handle.wait(std::time::Duration::from_secs(20)), "{:#}", handle.shared.snapshot());
    handle.shared.snapshot()
}

/// Waits until the snapshot meets the condition.
pub fn until(handle: &Handle, what: &str, mut enough: impl FnMut(&Value) -> bool) -> Value {
    let end = Instant::now() + std::time::Duration::from_secs(20);
    loop {
        let picture = handle.shared.snapshot();
        if enough(&picture) {
            return picture;
        }
        assert!(Instant::now() < end, "waited in vain for {what}: {picture:#}");
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
}
