//! Carries out what a run asks for: agents, looks at the files, questions, checkpoints. It knows nothing of the journal or
//! of who reads it, and changes nothing of the run: what it comes to is given back as an event.

use super::announcement::Announcement;
use super::checkpoint_writer::{CheckpointWriter, Ending};
use super::current_launch::{working, works};
use super::file_stamps::Stamps;
use super::gate_review::{Looked, Looks, baseline};
use super::live::Live;
use super::lua_question::LuaQuestion;
use super::mailbox::Outbox;
use super::pending_permission::PendingPermission;
use super::review_worker::ReviewWorker;
use super::{Host, Message};
use crate::harness::Running;
use crate::outcome::Outcome;
use crate::run::shown::Shown;
use crate::run::state::{Run, Step};
use crate::store::prune::prune;
use crate::store::rundir::RunDir;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::{Duration, Instant};

/// How long the end of a drive waits for git. Where it was cancelled, git is ended, which takes a moment.
const GIT: Duration = Duration::from_secs(1);

/// What carries out one run.
pub struct Performer {
    pub(super) host: Arc<Host>,
    pub(super) root: PathBuf,
    pub(super) dir: RunDir,
    pub(super) outbox: Outbox,
    reviews: Arc<ReviewWorker>,
    /// The agent that works.
    pub(super) agent: Option<Agent>,
    /// Those that are being stopped.
    pub(super) stopping: Vec<Agent>,
    /// A question to Lua that is open, and how many there were.
    pub(super) asked: Option<LuaQuestion>,
    pub(super) asks: u32,
    /// Permissions that wait for a human.
    pub(super) questions: Vec<PendingPermission>,
    /// What the agent shows while it works.
    pub(super) live: Live,
    pub(super) checkpoints: CheckpointWriter,
    /// The look at the files that is waited for, by its number.
    look: Option<(u64, Wanted)>,
    looks: u64,
    /// The files as they were when the newest launch began, or the newest attempt ended; none in a large project.
    stamps: Option<Stamps>,
    /// When an attempt has ended in this turn: a gate that opens in it shows the files as they were then.
    ended: Option<Instant>,
    /// What threads of ours still do with git: each ends with its thread.
    busy: Vec<Receiver<()>>,
    /// What there is to tell.
    pub(super) told: Vec<Announcement>,
}

/// A launched agent. It does not outlive the drive, should that panic.
pub(super) struct Agent {
    pub(super) launch: u32,
    pub(super) running: Running,
    /// Its result was handed in: its end is on the way.
    submitted: bool,
}

/// What a look at the files is for.
pub(super) enum Wanted {
    /// What changes from here on is under review at the next gate.
    Baseline,
    /// The list of a gate that opens.
    Gate { stage: usize, visit: u32 },
}

impl Drop for Agent {
    fn drop(&mut self) {
        if !self.running.is_over() {
            self.running.stop();
        }
    }
}

impl Agent {
    pub(super) fn new(launch: u32, running: Running) -> Self {
        Self { launch, running, submitted: false }
    }
}

impl Performer {
    pub(super) fn new(
        reviews: Arc<ReviewWorker>,
        dir: RunDir,
        outbox: Outbox,
        checkpoints: CheckpointWriter,
    ) -> Self {
        Self {
            host: reviews.host().clone(),
            root: reviews.root().to_owned(),
            dir,
            outbox,
            reviews,
            agent: None,
            stopping: Vec::new(),
            asked: None,
            asks: 0,
            questions: Vec::new(),
            live: Live::default(),
            checkpoints,
            look: None,
            looks: 0,
            stamps: None,
            ended: None,
            busy: Vec::new(),
            told: Vec::new(),
        }
    }

    /// Stops whatever works and is not what the run names.
    pub(super) fn reconcile(&mut self, run: &Run, told: &mut Vec<Announcement>) {
        let current = works(run).map(|(_, launch)| launch);
        if self.asked.as_ref().is_some_and(|asked| !asked.is_wanted(run)) {
            self.asked = None;
        }
        let Some(agent) = self.agent.take_if(|agent| Some(agent.launch) != current) else { return };
        self.forget_questions(agent.launch);
        told.append(&mut self.told);
        agent.running.stop();
        self.stopping.push(agent);
        self.checkpoints.interrupted();
        self.live = Live::default();
    }

    /// Whether nothing works any more.
    pub(super) fn is_idle(&self) -> bool {
        self.agent.is_none() && self.stopping.is_empty()
    }

    /// What is left running is ended now, within this time.
    pub(super) fn kill(&mut self, grace: Duration) {
        for agent in self.agent.iter().chain(&self.stopping) {
            agent.running.kill_now(grace);
        }
        self.agent = None;
        self.stopping.clear();
    }

    /// The journal has failed: nothing goes on.
    pub(super) fn abandon(&mut self, told: &mut Vec<Announcement>) {
        self.checkpoints.forget();
        self.asked = None;
        self.look = None;
        if let Some(agent) = self.agent.take() {
            self.forget_questions(agent.launch);
            agent.running.stop();
            self.stopping.push(agent);
            self.checkpoints.interrupted();
        }
        told.append(&mut self.told);
    }

    /// Hands in what a human did; whether that launch waits for it.
    pub(super) fn submit(&mut self, run: &Run, launch: u32, text: String) -> bool {
        let Some(stage) = working(run, launch) else { return false };
        let Some(agent) = self.agent.as_mut().filter(|agent| agent.launch == launch && !agent.submitted)
        else {
            return false;
        };
        // What a human hands in is the output of that attempt.
        let path = self.dir.attempt(launch, stage).join("output.log");
        let kept = format!("{}\n", self.host.secrets.mask(&text));
        if let Err(error) = self.dir.door().replace(&path, kept.as_bytes()) {
            self.told.push(Announcement::Notice("warn", format!("cannot write what was handed in: {error}")));
        }
        agent.running.submit(text);
        agent.submitted = true;
        true
    }

    /// Whether the end of what was handed in is on its way.
    pub(super) fn is_submitted(&self) -> bool {
        self.agent.as_ref().is_some_and(|agent| agent.submitted)
    }

    /// How long nothing becomes due here.
    pub(super) fn patience(&self) -> Duration {
        let asked = self.asked.as_ref().map(LuaQuestion::left);
        let questions = self.questions.iter().map(PendingPermission::left);
        questions.chain(asked).min().unwrap_or(Duration::MAX)
    }

    /// What it takes to look at the project's files.
    pub(super) fn looks(&self) -> Looks<'_> {
        self.reviews.looks()
    }

    /// Begins a look; the answer is a message.
    pub(super) fn look(&mut self, run: &Run, wanted: Wanted) {
        let since = match wanted {
            Wanted::Gate { .. } => self.ended.unwrap_or_else(Instant::now),
            Wanted::Baseline => Instant::now(),
        };
        self.looks += 1;
        let (number, reviews, outbox) = (self.looks, self.reviews.clone(), self.outbox.clone());
        let compares = matches!(wanted, Wanted::Gate { .. }).then(|| baseline(run));
        let (done, busy) = channel();
        self.busy.retain(|busy| busy.try_recv() == Err(TryRecvError::Empty));
        self.busy.push(busy);
        let look = move || {
            let _done = done;
            let looked = match compares {
                Some(before) => reviews.compare(before.as_ref(), since),
                None => reviews.tree(since).map(|after| Looked { after, files: Vec::new(), left_out: None }),
            };
            outbox.send(Message::Looked(number, looked));
        };
        self.look = Some((number, wanted));
        if let Err(error) = std::thread::Builder::new().name("superpower-look".into()).spawn(look) {
            self.outbox.send(Message::Looked(number, Err(format!("no look at the files: {error}"))));
        }
    }

    /// Whether a look is waited for.
    pub(super) fn is_looking(&self) -> bool {
        self.look.is_some()
    }

    /// Waits no more for a look; says whether there was one.
    pub(super) fn give_up_look(&mut self) -> bool {
        self.look.take().is_some()
    }

    /// What this look was for, if it is still waited for.
    pub(super) fn looked(&mut self, number: u64) -> Option<Wanted> {
        self.look.take_if(|(current, _)| *current == number).map(|(_, wanted)| wanted)
    }

    /// Makes and keeps the review of a gate from what a look has found; gives what the journal is to know of it. Where
    /// nobody has a window it is printed.
    pub(super) fn review(
        &mut self,
        run: &Run,
        stage: usize,
        looked: Result<Looked, String>,
    ) -> Option<Shown> {
        let (review, shown) = self.looks().make(&self.dir, run, stage, looked);
        let mut shown = shown?;
        shown.printed = self.host.config.headless;
        if shown.printed {
            let lines = review.lines(run, stage, shown.id().unwrap_or_default());
            self.told.extend(lines.into_iter().map(Announcement::Answer));
        }
        Some(shown)
    }

    /// The files that were touched since the last look at their stamps, in a small project.
    pub(super) fn touched(&mut self) -> Option<Vec<String>> {
        self.ended = Some(self.reviews.attempt_ended());
        let before = std::mem::replace(&mut self.stamps, Stamps::of(&self.root));
        Some(self.stamps.as_ref()?.touched_since(before.as_ref()?))
    }

    /// A launch begins: what humans have done since the last attempt is not its work.
    pub(super) fn stamp(&mut self) {
        if self.ended.is_none() {
            self.stamps = Stamps::of(&self.root);
        }
    }

    /// The end that a stage's checkpoint has where a human leaves out what they were to carry out.
    pub(super) fn skipped(&mut self, run: &Run) -> Option<Ending> {
        let stage = run.current().filter(|&stage| run.stages[stage].is_manual())?;
        let Step::Working { since, .. } = run.stages[stage].step else { return None };
        let outcome = Outcome::Blocked { why: "skipped by hand".into() };
        Some(self.ending(run, stage, &outcome, ("", ""), since))
    }

    /// A turn is over: the files may be others from here on.
    pub(super) fn turn_ends(&mut self) {
        if self.look.is_none() {
            self.ended = None;
        }
    }

    /// A new run makes room for itself: the oldest finished ones go, and what only they needed.
    pub(super) fn tidy(&mut self, run: &Run) {
        prune(&self.root, &self.host.keys, self.host.config.keep_runs, &run.run_id);
        let (done, busy) = channel();
        let (reviews, now) = (self.reviews.clone(), (self.host.clock)());
        let tidy = move || {
            let _done = done;
            reviews.looks().prune(now);
        };
        if std::thread::Builder::new().name("superpower-tidy".into()).spawn(tidy).is_ok() {
            self.busy.push(busy);
        }
    }

    /// Waits a moment for what is still asked of git: an editor that ends right after must not leave it behind.
    pub(super) fn wait_for_git(&mut self) {
        let until = Instant::now() + GIT;
        for busy in self.busy.drain(..) {
            let _ = busy.recv_timeout(until.saturating_duration_since(Instant::now()));
        }
    }

    /// Tells everybody something.
    pub(super) fn tell(&mut self, event: serde_json::Value) {
        self.announce(Announcement::Event(event));
    }

    pub(super) fn announce(&mut self, announcement: Announcement) {
        self.told.push(announcement);
    }
}
