//! Performs the actions of a run: agents, comparisons of files, questions, checkpoints. It does not know the journal or
//! its readers, and does not change the run: its results are events, which the drive steps.

use super::announcement::Announcement;
use super::checkpoint_writer::{CheckpointWriter, Ending};
use super::current_launch::{working, works};
use super::file_stamps::Stamps;
use super::gate_review::{Comparer, Comparison, baseline};
use super::live::Live;
use super::lua_question::LuaQuestion;
use super::mailbox::Outbox;
use super::pending_permission::PendingPermission;
use super::review_worker::ReviewWorker;
use super::{Host, Message};
use crate::environ;
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

/// How long the end of a drive waits for git. Killing git after a cancel takes a moment.
const GIT: Duration = Duration::from_secs(1);

/// Performs the actions of one run.
pub struct Performer {
    pub(super) host: Arc<Host>,
    pub(super) root: PathBuf,
    pub(super) dir: RunDir,
    pub(super) outbox: Outbox,
    reviews: Arc<ReviewWorker>,
    /// The active agent.
    pub(super) agent: Option<Agent>,
    /// Agents that are being stopped.
    pub(super) stopping: Vec<Agent>,
    /// The pending question to Lua.
    pub(super) lua_question: Option<LuaQuestion>,
    /// The number of questions to Lua so far, for their ids.
    pub(super) lua_questions: u32,
    /// Permissions that wait for the user.
    pub(super) questions: Vec<PendingPermission>,
    /// The agent's progress, for display.
    pub(super) live: Live,
    pub(super) checkpoints: CheckpointWriter,
    /// The pending comparison of files, with its number.
    comparison: Option<(u64, ComparisonPurpose)>,
    /// The number of comparisons so far.
    comparisons: u64,
    /// File times and sizes when the newest launch began or the newest attempt ended; `None` in a large project.
    stamps: Option<Stamps>,
    /// When an attempt ended in this turn. A gate that opens in the same turn compares the files as of that moment.
    ended: Option<Instant>,
    /// One channel for each thread that still uses git; it disconnects when the thread ends.
    git_threads: Vec<Receiver<()>>,
    /// Announcements for the drive to take over.
    pub(super) announcements: Vec<Announcement>,
}

/// A launched agent. Dropping it stops the agent, so that none outlives a drive that panics.
pub(super) struct Agent {
    pub(super) launch: u32,
    pub(super) running: Running,
    /// Whether the user has submitted its result, so that its end follows.
    submitted: bool,
}

/// What a comparison of files is for.
pub(super) enum ComparisonPurpose {
    /// To record the files that the next gate compares with.
    Baseline,
    /// To list the changes for a gate that opens.
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
            lua_question: None,
            lua_questions: 0,
            questions: Vec::new(),
            live: Live::default(),
            checkpoints,
            comparison: None,
            comparisons: 0,
            stamps: None,
            ended: None,
            git_threads: Vec::new(),
            announcements: Vec::new(),
        }
    }

    /// Stops the agent, and drops the question, that the run's state does not name. This runs after every step, so that
    /// no event can forget to stop an agent.
    pub(super) fn reconcile(&mut self, run: &Run, announcements: &mut Vec<Announcement>) {
        let current = works(run).map(|(_, launch)| launch);
        if self.lua_question.as_ref().is_some_and(|question| !question.is_wanted(run)) {
            self.lua_question = None;
        }
        let Some(agent) = self.agent.take_if(|agent| Some(agent.launch) != current) else { return };
        self.forget_questions(agent.launch);
        announcements.append(&mut self.announcements);
        agent.running.stop();
        self.stopping.push(agent);
        self.checkpoints.interrupted();
        self.live = Live::default();
    }

    /// Whether no agent is running.
    pub(super) fn is_idle(&self) -> bool {
        self.agent.is_none() && self.stopping.is_empty()
    }

    /// Kills the agents that are still running: SIGTERM now, SIGKILL after `grace`.
    pub(super) fn kill(&mut self, grace: Duration) {
        for agent in self.agent.iter().chain(&self.stopping) {
            agent.running.kill_now(grace);
        }
        self.agent = None;
        self.stopping.clear();
    }

    /// Stops everything, because the journal cannot be written.
    pub(super) fn abandon(&mut self, announcements: &mut Vec<Announcement>) {
        self.checkpoints.forget();
        self.lua_question = None;
        self.comparison = None;
        if let Some(agent) = self.agent.take() {
            self.forget_questions(agent.launch);
            agent.running.stop();
            self.stopping.push(agent);
            self.checkpoints.interrupted();
        }
        announcements.append(&mut self.announcements);
    }

    /// Submits the result of a manual stage. Returns false if the launch does not wait for one.
    pub(super) fn submit(&mut self, run: &Run, launch: u32, text: String) -> bool {
        let Some(stage) = working(run, launch) else { return false };
        let Some(agent) = self.agent.as_mut().filter(|agent| agent.launch == launch && !agent.submitted)
        else {
            return false;
        };
        // The submitted text is the attempt's output, where readers of the log look for it.
        let path = self.dir.attempt(launch, stage).join("output.log");
        let kept = format!("{}\n", self.host.secrets.mask(&text));
        if let Err(error) = self.dir.door().replace(&path, kept.as_bytes()) {
            self.announcements
                .push(Announcement::Notice("warn", format!("cannot write the submitted result: {error}")));
        }
        agent.running.submit(text);
        agent.submitted = true;
        true
    }

    /// Whether a result was submitted whose end has not arrived yet.
    pub(super) fn is_submitted(&self) -> bool {
        self.agent.as_ref().is_some_and(|agent| agent.submitted)
    }

    /// The time until a question's deadline.
    pub(super) fn max_wait(&self) -> Duration {
        let lua = self.lua_question.as_ref().map(LuaQuestion::left);
        let questions = self.questions.iter().map(PendingPermission::left);
        questions.chain(lua).min().unwrap_or(Duration::MAX)
    }

    /// Compares the project's files and keeps the reviews of gates.
    pub(super) fn comparer(&self) -> Comparer<'_> {
        self.reviews.comparer()
    }

    /// Starts a comparison in a thread. Its result arrives as a message.
    pub(super) fn start_comparison(&mut self, run: &Run, purpose: ComparisonPurpose) {
        let since = match purpose {
            ComparisonPurpose::Gate { .. } => self.ended.unwrap_or_else(Instant::now),
            ComparisonPurpose::Baseline => Instant::now(),
        };
        self.comparisons += 1;
        let (number, reviews, outbox) = (self.comparisons, self.reviews.clone(), self.outbox.clone());
        let before = matches!(purpose, ComparisonPurpose::Gate { .. }).then(|| baseline(run));
        let (done, active) = channel();
        self.git_threads.retain(|active| active.try_recv() == Err(TryRecvError::Empty));
        self.git_threads.push(active);
        let compare = move || {
            let _done = done;
            let result = match before {
                Some(before) => reviews.compare(before.as_ref(), since),
                None => {
                    reviews.tree(since).map(|after| Comparison { after, files: Vec::new(), left_out: None })
                }
            };
            outbox.send(Message::Compared(number, result));
        };
        self.comparison = Some((number, purpose));
        if let Err(error) =
            std::thread::Builder::new().name("superpower-compare".into()).spawn(environ::carried(compare))
        {
            self.outbox.send(Message::Compared(number, Err(format!("cannot compare files: {error}"))));
        }
    }

    /// Whether a comparison is pending.
    pub(super) fn is_comparing(&self) -> bool {
        self.comparison.is_some()
    }

    /// Ignores the pending comparison. Returns whether there was one.
    pub(super) fn cancel_comparison(&mut self) -> bool {
        self.comparison.take().is_some()
    }

    /// Takes the purpose of the comparison with this number; `None` if it was cancelled.
    pub(super) fn take_comparison(&mut self, number: u64) -> Option<ComparisonPurpose> {
        self.comparison.take_if(|(current, _)| *current == number).map(|(_, purpose)| purpose)
    }

    /// Makes and saves the review of a gate from a comparison, and returns its record for the journal. Headless, there is
    /// no window, so the list is printed.
    pub(super) fn review(
        &mut self,
        run: &Run,
        stage: usize,
        result: Result<Comparison, String>,
    ) -> Option<Shown> {
        let (review, shown) = self.comparer().make(&self.dir, run, stage, result);
        let mut shown = shown?;
        shown.printed = self.host.config.headless;
        if shown.printed {
            let lines = review.lines(run, stage, shown.id().unwrap_or_default());
            self.announcements.extend(lines.into_iter().map(Announcement::Answer));
        }
        Some(shown)
    }

    /// The files whose times or sizes changed since the launch began; `None` in a large project.
    pub(super) fn touched(&mut self) -> Option<Vec<String>> {
        self.ended = Some(self.reviews.attempt_ended());
        let before = std::mem::replace(&mut self.stamps, Stamps::of(&self.root));
        Some(self.stamps.as_ref()?.touched_since(before.as_ref()?))
    }

    /// Records file times when a launch begins, so that the user's edits since the last attempt do not count as the
    /// agent's.
    pub(super) fn stamp(&mut self) {
        if self.ended.is_none() {
            self.stamps = Stamps::of(&self.root);
        }
    }

    /// The checkpoint's ending for a manual stage that the user skips.
    pub(super) fn skipped(&mut self, run: &Run) -> Option<Ending> {
        let stage = run.current().filter(|&stage| run.stages[stage].is_manual())?;
        let Step::Working { since, .. } = run.stages[stage].step else { return None };
        let outcome = Outcome::Blocked { why: "skipped by hand".into() };
        Some(self.ending(run, stage, &outcome, ("", ""), since))
    }

    /// Called at the end of a turn: a later gate must compare the files as of then.
    pub(super) fn turn_ends(&mut self) {
        if self.comparison.is_none() {
            self.ended = None;
        }
    }

    /// Removes the oldest finished runs, and the git objects that only they needed. Called when a new run begins.
    pub(super) fn tidy(&mut self, run: &Run) {
        prune(&self.root, &self.host.keys, self.host.config.keep_runs, &run.run_id);
        let (done, active) = channel();
        let (reviews, now) = (self.reviews.clone(), (self.host.clock)());
        let tidy = move || {
            let _done = done;
            reviews.comparer().prune(now);
        };
        if std::thread::Builder::new().name("superpower-tidy".into()).spawn(tidy).is_ok() {
            self.git_threads.push(active);
        }
    }

    /// Waits a moment for git, because an editor that exits right after must not leave git processes behind.
    pub(super) fn wait_for_git(&mut self) {
        let until = Instant::now() + GIT;
        for active in self.git_threads.drain(..) {
            let _ = active.recv_timeout(until.saturating_duration_since(Instant::now()));
        }
    }

    /// Queues an event for everybody who follows.
    pub(super) fn announce_event(&mut self, event: serde_json::Value) {
        self.announce(Announcement::Event(event));
    }

    pub(super) fn announce(&mut self, announcement: Announcement) {
        self.announcements.push(announcement);
    }
}
