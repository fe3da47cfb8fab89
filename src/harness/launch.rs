//! Launches a harness: the thread that follows the agent, and the handle that the driver holds.

use super::claude::Claude;
use super::command::Command;
use super::end_text::failed;
use super::follow::follow;
use super::opencode::Opencode;
use super::sink::{EndState, LINE, Order, Sink};
use super::{Answer, Ending, Harness, Kind, Launch, Resolved, Signal, Task, fake, is_name, manual, release};
use crate::environ;
use crate::process::{self, Environment, Exit, Inbox, Item, Mark, Process, Secrets, Spec, Stdin};
use crate::store::beneath::Door;
use crate::sync::{locked, panic_text, wait_until};
use serde_json::json;
use std::fs::File;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// A name that is not safe as an argument.
    #[error("invalid name \"{name}\" of an agent or skill; use letters, digits and . _ : / -")]
    Name { name: String },
    /// The project root does not exist.
    #[error("the project's directory \"{}\" does not exist", root.display())]
    Root { root: PathBuf },
    #[error("cannot start \"{}\": {source}", program.display())]
    Spawn {
        program: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The harness `manual` without a person.
    #[error(
        "the harness \"{harness}\" needs a person at the editor; choose another \"harness\" for headless use"
    )]
    NeedsPerson { harness: String },
    #[error("cannot start a thread: {source}")]
    Thread {
        /// The system's error.
        source: io::Error,
    },
}

/// A launched agent.
#[derive(Debug)]
pub struct Running {
    inbox: Arc<Inbox<Item<Order>>>,
    over: Arc<EndState>,
}

impl Running {
    /// Starts to stop it, politely first, and returns at once. [`Signal::Ended`] follows within two seconds.
    pub fn stop(&self) {
        self.inbox.order(Item::Order(Order::Stop));
    }

    /// Stops it and waits until all its processes have ended: SIGTERM at once, SIGKILL after `grace`.
    pub fn kill_now(&self, grace: Duration) {
        self.inbox.order(Item::Order(Order::Kill(grace)));
        let until = Instant::now() + grace + Duration::from_millis(500);
        let mut state = locked(&self.over.state);
        while !state.over {
            if Instant::now() >= until {
                // Its thread is blocked, perhaps by the driver, so the processes are killed from here.
                let leader = state.leader.clone();
                drop(state);
                if let Some(leader) = leader {
                    leader.end_now();
                }
                return;
            }
            state = wait_until(&self.over.ended, state, until);
        }
    }

    /// Answers the question with this id; does nothing if that was answered or withdrawn.
    pub fn answer(&self, id: &str, answer: Answer) {
        self.inbox.order(Item::Order(Order::Answer(id.to_owned(), answer)));
    }

    /// Submits a result to `manual`.
    pub fn submit(&self, message: String) {
        self.inbox.order(Item::Order(Order::Submit(message)));
    }

    /// Whether [`Signal::Ended`] was sent.
    pub fn is_over(&self) -> bool {
        locked(&self.over.state).over
    }
}

/// Launches an agent. `sink` is called from one thread, in order, and last with [`Signal::Ended`].
pub fn launch(
    resolved: &Resolved,
    launch: Launch,
    sink: impl Fn(Signal) + Send + Sync + 'static,
) -> Result<Running, LaunchError> {
    let (Task::Agent(name) | Task::Skill(name)) = &launch.task;
    if !is_name(name) {
        return Err(LaunchError::Name { name: name.clone() });
    }
    if !Door::people(&launch.root).is_dir(Path::new("")) {
        return Err(LaunchError::Root { root: launch.root });
    }
    let environment = Environment::current();
    let secrets = Secrets::of(&environment);
    let inbox: Arc<Inbox<Item<Order>>> = Arc::default();
    let over: Arc<EndState> = Arc::default();
    let running = Running { inbox: inbox.clone(), over: over.clone() };
    let mut sink =
        Sink { sink: Box::new(sink), masker: secrets.stream(), secrets: secrets.clone(), over: over.clone() };
    let body: Box<dyn FnOnce(&mut Sink) -> Ending + Send> = match &resolved.kind {
        Kind::Manual if !launch.interactive => {
            return Err(LaunchError::NeedsPerson { harness: resolved.name.clone() });
        }
        Kind::Manual => Box::new(move |sink| manual::wait(&inbox, sink)),
        Kind::Fake(script) => {
            let steps = script.steps(&launch);
            Box::new(move |sink| fake::play(steps, &inbox, sink))
        }
        Kind::Claude | Kind::Opencode | Kind::Command => {
            let mut harness = of(resolved, &launch, &secrets);
            let starter = Starter { resolved: resolved.clone(), launch, environment, secrets, inbox };
            // Started on this thread, so that the caller gets the error if it does not start.
            let first = starter.start(&mut *harness)?;
            locked(&over.state).leader = Some(first.process.leader());
            Box::new(move |sink| starter.follow(first, &mut *harness, sink, &over))
        }
    };
    let thread = move || {
        let ending = catch_unwind(AssertUnwindSafe(|| body(&mut sink)));
        let ending = ending.unwrap_or_else(|panic| {
            failed(format!("internal error in the harness: {}", panic_text(&*panic)))
        });
        let _ = catch_unwind(AssertUnwindSafe(|| sink.send(Signal::Ended(ending))));
        locked(&sink.over.state).over = true;
        sink.over.ended.notify_all();
    };
    thread::Builder::new()
        .name("superpower-agent".to_owned())
        .spawn(environ::carried(thread))
        .map_err(|source| LaunchError::Thread { source })?;
    Ok(running)
}

/// The harness of a launch that drives a process; `manual` and `fake` are read as `command`.
pub fn of(resolved: &Resolved, launch: &Launch, secrets: &Secrets) -> Box<dyn Harness> {
    let (first, args) = (resolved.first.clone(), resolved.args.clone());
    match resolved.kind {
        Kind::Claude => {
            let release = resolved.program.as_deref().and_then(release::installed);
            Box::new(Claude::new(first, args, launch, release.as_ref(), secrets))
        }
        Kind::Opencode => Box::new(Opencode::new(first, args, launch, secrets)),
        _ => Box::new(Command::new([first, args].concat(), launch, secrets)),
    }
}

/// A process that was just started.
struct Started {
    process: Process<Order>,
    argv: Vec<String>,
    /// When to call [`Harness::woken`].
    wake: Option<Duration>,
}

/// Starts the launch's process, again if the harness asks for it.
struct Starter {
    resolved: Resolved,
    launch: Launch,
    environment: Environment,
    secrets: Secrets,
    inbox: Arc<Inbox<Item<Order>>>,
}

impl Starter {
    fn start(&self, harness: &mut dyn Harness) -> Result<Started, LaunchError> {
        let (launch, resolved) = (&self.launch, &self.resolved);
        let invocation = harness.invocation();
        let program = resolved.program.clone().unwrap_or_default();
        let spec = Spec {
            program: program.clone(),
            args: invocation.args.iter().map(Into::into).collect(),
            env: invocation.env,
            root: launch.root.clone(),
            stdin: if invocation.duplex { Stdin::Duplex } else { Stdin::Once(invocation.stdin.clone()) },
            log: launch.dir.join("output.log"),
            door: launch.door.clone(),
            max_output: resolved.max_output,
            max_line: LINE,
            timeout: launch.timeout,
            idle: launch.idle.filter(|_| invocation.streams),
            mark: Mark { run_id: launch.run_id.clone(), stage: launch.stage, launch: launch.launch },
        };
        let argv: Vec<String> =
            [program.to_string_lossy().into_owned()].into_iter().chain(invocation.args).collect();
        let started = process::spawn(spec, &self.environment, &self.secrets, self.inbox.clone());
        let process = started.map_err(|source| LaunchError::Spawn { program, source })?;
        if invocation.duplex {
            process.write(invocation.stdin);
        }
        Ok(Started { process, argv, wake: invocation.wake })
    }

    fn follow(
        self,
        mut started: Started,
        harness: &mut dyn Harness,
        sink: &mut Sink,
        over: &EndState,
    ) -> Ending {
        let mut record = Record::open(&self.launch);
        loop {
            let Started { mut process, argv, wake } = started;
            sink.send(Signal::Started(Some(process.record())));
            record.line(&self.secrets.mask(&json!({ "argv": argv }).to_string()));
            let (exit, ending) = follow(&mut process, harness, sink, LINE, wake);
            let exit = match exit {
                Exit::Code(code) => json!({ "code": code }),
                Exit::Signal(signal) => json!({ "signal": signal }),
                Exit::Stuck => json!({ "stuck": true }),
            };
            record.line(&exit.to_string());
            if let Some(ending) = ending {
                return ending;
            }
            drop(process);
            started = match self.start(harness) {
                Ok(started) => started,
                Err(error) => return failed(error.to_string()),
            };
            locked(&over.state).leader = Some(started.process.leader());
        }
    }
}

/// `processes.jsonl`, which records what was started and how it ended. Only for people; errors are ignored.
struct Record(Option<File>);

impl Record {
    fn open(launch: &Launch) -> Self {
        Self(launch.door.append(&launch.dir.join("processes.jsonl")).ok())
    }

    fn line(&mut self, line: &str) {
        if let Some(file) = &mut self.0 {
            let _ = file.write_all(format!("{line}\n").as_bytes());
        }
    }
}
