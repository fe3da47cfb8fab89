//! The only loop: it receives events, calls the machine, performs its effects, and publishes.
//!
//! A [`Drive`] exists from the verb that sets a run going until the run next pauses or ends. It holds the drive lock
//! and the journal. A step's events are on disk, with one flush, before its effects act or show.

pub mod checkpoints;
pub mod gate_review;
pub mod judge;
pub mod live;
pub mod open;
pub mod perform;
pub mod projection;
pub mod signals;
pub mod start;

use crate::config::Config;
use crate::harness::Harnesses;
use crate::harness::Running;
use crate::harness::Signal;
use crate::outcome::ProcessRecord;
use crate::process::Secrets;
use crate::run::decide::{Verdict, decide};
use crate::run::effect::Effect;
use crate::run::event::{Event, Record};
use crate::run::machine::{self, Refusal};
use crate::run::snapshot::snapshot;
use crate::run::state::{Phase, Reason, Run};
use crate::store::journal::Journal;
use crate::store::lease::Lease;
use crate::store::rundir::RunDir;
use chrono::{DateTime, Utc};
use live::Live;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// At most this many pictures of a run's progress a second.
const FRAME: Duration = Duration::from_millis(34);
/// How long a fact that Lua provides may take.
const FACT: Duration = Duration::from_secs(10);
/// Longest sleep while waiting for a wall-clock time: a laptop that wakes up must notice.
const NAP: Duration = Duration::from_secs(1);

/// Hands the editor an event; with a key, one that still waits under it is replaced.
pub type Publish = Box<dyn Fn(Option<&str>, Value) + Send + Sync>;

/// What a drive needs from whoever holds it.
pub struct Host {
    /// Tells the editor something. With a key, an event that still waits under the same key is replaced.
    pub publish: Publish,
    /// The wall clock.
    pub clock: Box<dyn Fn() -> DateTime<Utc> + Send + Sync>,
    /// The configuration.
    pub config: Config,
    /// The harnesses.
    pub harnesses: Harnesses,
    /// Values that never appear in anything that is kept or shown.
    pub secrets: Secrets,
}

/// What reaches a drive.
#[derive(Debug)]
pub enum Message {
    /// From an agent.
    Agent(u32, Signal),
    /// A verb while it drives: pause or cancel.
    Verb(Event, Sender<Result<(), Refusal>>),
    /// The answer to an `ask-fact` or a `permission`, by its id.
    Answer(String, Result<Value, String>),
    /// The result of a `manual` launch.
    Submit(u32, String),
    /// The editor leaves: end everything within this time.
    Leave(Duration),
}

/// What others may know of a drive while it drives.
#[derive(Debug, Default)]
pub struct Shared {
    snapshot: Mutex<Value>,
}

impl Shared {
    /// The newest picture of the run.
    pub fn snapshot(&self) -> Value {
        self.snapshot.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A run being driven.
pub struct Drive {
    host: Arc<Host>,
    root: PathBuf,
    dir: RunDir,
    run: Run,
    journal: Journal,
    lease: Option<Lease>,
    inbox: Receiver<Message>,
    outbox: Sender<Message>,
    shared: Arc<Shared>,
    pending: Vec<Effect>,
    agent: Option<Agent>,
    stopping: Vec<Agent>,
    asked: Option<AskedFact>,
    questions: Vec<signals::Pending>,
    wait: Option<(usize, DateTime<Utc>)>,
    live: Live,
    keeper: checkpoints::Keeper,
    /// Processes of an earlier drive; none where there was none.
    left_behind: Option<Vec<ProcessRecord>>,
    published: Instant,
    dirty: bool,
    leaving: bool,
    asks: u32,
}

/// A launched agent.
struct Agent {
    launch: u32,
    running: Running,
}

/// A fact that Lua has been asked for.
struct AskedFact {
    id: String,
    fact: String,
    stage: usize,
    until: Instant,
}

impl Drive {
    /// Runs the loop to its end, then gives the lock back.
    pub fn run(mut self) {
        self.sweep();
        self.settle();
        while !(self.leaving && self.stopping.is_empty() && self.agent.is_none()) {
            match self.inbox.recv_timeout(self.patience()) {
                Ok(message) => self.receive(message),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            // Whatever else has come meanwhile belongs to the same picture, and often to the same flush.
            for _ in 0..256 {
                let Ok(message) = self.inbox.try_recv() else { break };
                self.receive(message);
            }
            self.clocks();
            self.settle();
        }
        drop(self.lease.take());
        self.publish_snapshot();
        self.tell(json!({ "type": "drive-ended" }));
        // From here on a verb is for the next drive: whoever still waits for an answer of this one learns so at once.
        let Self { inbox, keeper, .. } = self;
        drop(inbox);
        keeper.close();
    }

    fn receive(&mut self, message: Message) {
        match message {
            Message::Agent(launch, signal) => self.signal(launch, signal),
            Message::Verb(event, reply) => {
                let _ = reply.send(self.apply(event));
            }
            Message::Answer(id, answer) => self.answered(&id, answer),
            Message::Submit(launch, text) => {
                if let Some(agent) = self.agent.as_ref().filter(|agent| agent.launch == launch) {
                    agent.running.submit(text);
                }
            }
            Message::Leave(grace) => self.leave(grace),
        }
    }

    /// The editor leaves: the run is interrupted, agents are ended now, nothing is said.
    fn leave(&mut self, grace: Duration) {
        let _ = self.apply(Event::Interrupted { why: "the editor was left".into() });
        self.settle();
        for agent in self.agent.iter().chain(&self.stopping) {
            agent.running.kill_now(grace);
        }
        self.agent = None;
        self.stopping.clear();
        self.leaving = true;
    }

    /// One event through the machine. It is in the journal's buffer then, and its effects wait for [`Drive::settle`].
    fn apply(&mut self, event: Event) -> Result<(), Refusal> {
        let record = Record { at: (self.host.clock)(), event };
        let effects = machine::step(&mut self.run, &record)?;
        self.journal.append(&record);
        self.pending.extend(effects);
        self.dirty = true;
        Ok(())
    }

    /// Decides what can be decided, flushes, and performs.
    fn settle(&mut self) {
        while !self.pending.is_empty() {
            self.decide();
            if self.pending.is_empty() {
                break;
            }
            if let Err(error) = self.journal.flush() {
                return self.disk_failed(&error.to_string());
            }
            for effect in std::mem::take(&mut self.pending) {
                self.perform(effect);
            }
            if let Err(error) = projection::write(&self.root, &self.dir, &self.run) {
                self.notice("warn", &format!("cannot write squad.json: {error}"));
            }
        }
        if self.dirty && self.published.elapsed() >= FRAME {
            self.publish_snapshot();
        }
    }

    /// Takes `Decide` effects: what they lead to joins the same flush.
    fn decide(&mut self) {
        while let Some(at) = self.pending.iter().position(|effect| matches!(effect, Effect::Decide { .. })) {
            let Effect::Decide { stage } = self.pending.remove(at) else { continue };
            loop {
                match decide(&self.run, stage) {
                    Verdict::Decided { run, why } => {
                        let _ = self.apply(Event::StageDecided { stage, run, why });
                        break;
                    }
                    Verdict::Needs(fact) => {
                        let Some(known) =
                            crate::project::facts::decide(&fact, &self.run.plan.inputs, &self.root)
                        else {
                            self.ask_fact(fact, stage);
                            break;
                        };
                        let (value, reason) = (known.value, known.reason);
                        if self.apply(Event::FactDecided { fact, value, reason, stage }).is_err() {
                            break;
                        }
                    }
                }
            }
        }
    }

    /// Asks Lua for a fact; the answer comes as a message.
    fn ask_fact(&mut self, fact: String, stage: usize) {
        self.asks += 1;
        let id = format!("{}/fact-{}", self.run.run_id, self.asks);
        let inputs = &self.run.plan.inputs;
        let ctx =
            json!({ "root": self.root, "inputs": inputs, "stage": stage + 1, "run_id": self.run.run_id });
        self.tell(json!({ "type": "ask-fact", "id": id, "name": fact, "ctx": ctx }));
        self.asked = Some(AskedFact { id, fact, stage, until: Instant::now() + FACT });
    }

    /// What Lua says of a fact, or a human of a permission.
    fn answered(&mut self, id: &str, answer: Result<Value, String>) {
        match self.asked.take_if(|asked| asked.id == id) {
            Some(asked) => self.fact_answered(asked, answer),
            None => self.permission_answered(id, answer),
        }
    }

    fn fact_answered(&mut self, asked: AskedFact, answer: Result<Value, String>) {
        let AskedFact { fact, stage, .. } = asked;
        match answer {
            Ok(value) => {
                let decided = value.get("value").and_then(Value::as_bool).unwrap_or(false);
                let reason =
                    value.get("reason").and_then(Value::as_str).unwrap_or("your own condition").to_owned();
                let _ = self.apply(Event::FactDecided { fact, value: decided, reason, stage });
                self.pending.push(Effect::Decide { stage });
            }
            Err(error) => {
                let why = format!("the condition \"{fact}\" could not be decided: {error}");
                self.notice("error", &why);
                let _ = self.apply(Event::Interrupted { why });
            }
        }
    }

    /// What has become due.
    fn clocks(&mut self) {
        if let Some((stage, _)) = self.wait.take_if(|(_, until)| *until <= (self.host.clock)()) {
            let _ = self.apply(Event::WaitEnded { stage });
        }
        if let Some(asked) = self.asked.take_if(|asked| asked.until <= Instant::now()) {
            self.fact_answered(asked, Err(format!("no answer within {} seconds", FACT.as_secs())));
        }
        self.deny_late_questions();
    }

    /// How long the loop may sleep.
    fn patience(&self) -> Duration {
        let mut patience = Duration::from_secs(3600);
        if self.dirty {
            patience = FRAME.saturating_sub(self.published.elapsed());
        }
        if let Some((_, until)) = self.wait {
            let left = (until - (self.host.clock)()).to_std().unwrap_or(Duration::ZERO);
            patience = patience.min(left.min(NAP));
        }
        if let Some(asked) = &self.asked {
            patience = patience.min(asked.until.saturating_duration_since(Instant::now()));
        }
        self.questions.iter().fold(patience, |patience, question| patience.min(question.left()))
    }

    /// The journal cannot be written: nothing may act or show. The run stands on disk as it was at the last flush,
    /// and goes on from there when the cause is gone.
    fn disk_failed(&mut self, error: &str) {
        self.pending.clear();
        self.wait = None;
        for agent in self.agent.take().into_iter() {
            agent.running.stop();
            self.stopping.push(agent);
        }
        let detail = format!("{error}; mend that, then :Superpower resume {}", self.run.plan.name());
        self.notice("error", &format!("{} is paused: {detail}", self.run.plan.name()));
        self.log(&format!("PAUSED (interrupted) — {detail}"));
        // Only for the picture: the journal does not know of it, and will call it an interruption.
        self.run.phase = Phase::Paused { reason: Reason::Interrupted, detail };
        self.leaving = true;
        self.publish_snapshot();
    }

    fn publish_snapshot(&mut self) {
        let mut picture = snapshot(&self.run, (self.host.clock)());
        picture["root"] = json!(self.root);
        picture["ours"] = json!(self.lease.is_some());
        picture["driver"] = json!({ "pid": std::process::id() });
        picture["live"] = self.live.view();
        picture["checkpoints"] = json!(self.keeper.rows());
        picture["checkpoint_waiting"] = json!(self.keeper.waiting());
        self.host.secrets.mask_value(&mut picture);
        picture["usage"] = self.usage(&picture["usage"]);
        *self.shared.snapshot.lock().unwrap_or_else(PoisonError::into_inner) = picture.clone();
        let key = format!("snapshot {}", self.root.display());
        (self.host.publish)(Some(&key), json!({ "type": "snapshot", "root": self.root, "run": picture }));
        self.published = Instant::now();
        self.dirty = false;
    }

    /// What finished launches used, and the running one so far.
    fn usage(&self, finished: &Value) -> Value {
        let live = self.live.usage();
        let tokens = [finished["tokens"].as_u64(), live.tokens].into_iter().flatten().reduce(|a, b| a + b);
        let cost = [finished["cost"].as_f64(), live.cost].into_iter().flatten().reduce(|a, b| a + b);
        json!({ "tokens": tokens, "cost": cost })
    }

    /// Tells the editor something about this run.
    fn tell(&self, mut event: Value) {
        event["root"] = json!(self.root);
        event["run_id"] = json!(self.run.run_id);
        event["superpower"] = json!(self.run.plan.name());
        event["total"] = json!(self.run.plan.total());
        (self.host.publish)(None, event);
    }

    fn notice(&self, level: &str, message: &str) {
        self.tell(json!({ "type": "notice", "level": level, "message": message }));
    }

    /// A line of the log: to the editor, and to `.claude/logs/superpower.log`.
    fn log(&self, line: &str) {
        let line = self.host.secrets.mask(line).into_owned();
        let line = format!("[superpower] {line}");
        if let Err(error) = crate::store::log::append(&self.root, &line) {
            self.notice("warn", &format!("cannot write the log: {error}"));
        }
        self.tell(json!({ "type": "log", "line": line }));
    }
}
