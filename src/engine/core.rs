//! The state that every operation shares: configuration, drives, caches of open declarations, and the event queue.

use super::attention::Attention;
use super::caller::{self, CallerSettings};
use super::comparisons::Comparisons;
use super::editing::open_documents::Documents;
use super::editing::project_cache::Projects;
use super::followers::{FollowerId, Followers, Keyed};
use super::queue::Queue;
use super::request_worker::Worker;
use super::verbs::gate_lists::GateLists;
use super::verbs::shown::{Claims, GateCaches, Sheets};
use crate::config::{Config, Driver, OnExit, file};
use crate::driver::handle::Handle;
use crate::driver::unwritten_checkpoints::Unwritten;
use crate::driver::{Delivery, Host, Message};
use crate::environ::{self, Variables};
use crate::harness::{Harnesses, Settings};
use crate::process::{Environment, Secrets};
use crate::project::review::CancelToken;
use crate::runs::run_cache::RunCache;
use crate::store::keyring::Keyring;
use crate::store::state::State;
use crate::sync::locked;
use chrono::Utc;
use serde_json::json;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

/// Version of the protocol between the Lua half and this library; Lua refuses a library with another number.
pub const PROTOCOL: u32 = 2;

/// How long drives may take to end at exit, in addition to their agents' grace period.
const EXIT_MARGIN: Duration = Duration::from_secs(2);

/// How long exiting waits for a decision that is being made, before its comparison of files is cancelled.
const DECIDING: Duration = Duration::from_secs(1);

/// How long exiting waits for the command that calls the user.
const CALLING: Duration = Duration::from_secs(1);

/// Where an engine lives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Home {
    /// In an editor, with or without a user interface.
    #[default]
    Editor,
    /// In a command line.
    Command,
    /// In a process that only drives runs: whoever follows them comes over its socket.
    Driver,
}

impl Home {
    /// Why a run is interrupted when the process ends, for people.
    const fn exit_words(self) -> &'static str {
        match self {
            Self::Editor => "the editor exited",
            Self::Command => "the command was interrupted",
            Self::Driver => "the driver was stopped",
        }
    }
}

/// All state of the engine in this process.
#[derive(Default)]
pub struct Engine {
    pub(super) me: Weak<Engine>,
    home: Home,
    /// The events for this process.
    pub(super) queue: Arc<Queue>,
    /// Those who follow runs, this process among them unless it only drives.
    pub(super) followers: Arc<Followers>,
    /// This process among them.
    own: OnceLock<FollowerId>,
    /// Runs the user's command that calls them.
    pub(super) attention: Arc<Attention>,
    config: Mutex<Config>,
    /// The newest drive of each project root.
    drives: Mutex<HashMap<PathBuf, Arc<Handle>>>,
    /// Checkpoints that could not be written before their drive ended.
    pub(super) unwritten: Arc<Unwritten>,
    /// Drives that must not run before the request that started them is answered.
    starting: Mutex<Vec<(ThreadId, Arc<Handle>)>>,
    pub(super) worker: Worker,
    pub(super) runs: RunCache,
    pub(super) sheets: Sheets,
    pub(super) claims: Claims,
    pub(super) gate_lists: GateLists,
    pub(super) comparisons: Comparisons,
    pub(super) gate_caches: GateCaches,
    exiting: AtomicBool,
    /// Cancels the git commands that the worker runs.
    pub(super) cancel: CancelToken,
    pub(super) documents: Arc<Documents>,
    pub(super) projects: Projects,
    /// The newest environment with its secrets, because compiling their pattern takes longer than most operations.
    secrets: Mutex<Option<(Arc<Variables>, Secrets)>>,
}

impl Engine {
    /// An engine in an editor.
    pub fn new() -> Arc<Self> {
        Self::at(Home::Editor)
    }

    pub fn at(home: Home) -> Arc<Self> {
        crate::store::disk::arm_from_environment();
        let engine = Arc::new_cyclic(|me| Self { me: me.clone(), home, ..Self::default() });
        if home != Home::Driver {
            let own = engine.followers.follow(engine.queue.clone(), home == Home::Editor, Vec::new);
            let _ = engine.own.set(own);
        }
        engine
    }

    /// Adds a queue for the events of all runs. It begins with the newest pictures and the open questions.
    pub fn follow(&self, queue: Arc<Queue>, lua: bool) -> FollowerId {
        self.followers.follow(queue, lua, || self.pictures())
    }

    /// Ends what [`Engine::follow`] began.
    pub fn unfollow(&self, follower: FollowerId) {
        for id in self.followers.leave(follower) {
            for drive in self.drives() {
                drive.send(Message::NoEditor(id.clone()));
            }
        }
    }

    /// Notes that somebody uses this follower now: what Lua has to answer goes to the one that was used last.
    pub fn used(&self, follower: FollowerId) {
        self.followers.used(follower);
    }

    /// Notes whether this follower has a user, who can be called there.
    pub fn set_user(&self, follower: FollowerId, has_user: bool) {
        self.followers.set_user(follower, has_user);
    }

    /// The newest picture of each active drive.
    fn pictures(&self) -> Vec<Keyed> {
        let picture = |(root, drive): (&PathBuf, &Arc<Handle>)| {
            let event = drive.shared.event().filter(|_| !drive.is_over())?;
            Some((format!("snapshot {}", root.display()), event))
        };
        locked(&self.drives).iter().filter_map(picture).collect()
    }

    /// The queue of events for the editor.
    pub fn queue(&self) -> &Arc<Queue> {
        &self.queue
    }

    /// Queues a notice that belongs to no drive.
    pub(super) fn notice(&self, root: &Path, level: &str, message: &str) {
        let notice = json!({ "type": "notice", "root": root, "level": level, "message": message });
        self.followers.publish(Delivery::Everyone, notice.to_string().into());
    }

    /// Queues a notice that is part of a verb's answer; Lua shows it at every notification level.
    pub(super) fn notice_answer(&self, root: &Path, message: &str) {
        let notice =
            json!({ "type": "notice", "root": root, "level": "info", "answer": true, "message": message });
        self.followers.publish(Delivery::Everyone, notice.to_string().into());
    }

    pub(super) fn config(&self) -> Config {
        caller::config().map_or_else(|| locked(&self.config).clone(), |config| (*config).clone())
    }

    /// Which process drives runs, what becomes of them at exit, and whether nobody can be asked.
    pub fn driving(&self) -> (Driver, OnExit, bool) {
        let config = locked(&self.config);
        (config.driver, config.on_exit, config.headless)
    }

    /// What counts for requests of a client that has brought this. In a process that only drives, it also counts for
    /// those who bring nothing.
    pub fn settings(&self, config: Config, environment: Arc<Variables>) -> CallerSettings {
        let config = self.completed(config);
        if self.home == Home::Driver {
            environ::replace(environment.clone());
            *locked(&self.config) = config.clone();
        }
        CallerSettings { config: Arc::new(config), environment }
    }

    /// Whether a drive is active.
    pub fn is_driving(&self) -> bool {
        self.drives().iter().any(|drive| !drive.is_over())
    }

    /// Whether this process drives the project's run.
    pub fn drives_in(&self, root: &Path) -> bool {
        self.drive(root).is_some_and(|drive| !drive.is_over())
    }

    /// Interrupts the project's run, if this process drives it and it has this id: its agents have `grace` to end.
    pub fn interrupt(&self, root: &Path, run_id: &str, grace: Duration) {
        if let Some(drive) = self.drive(root).filter(|drive| drive.run_id == run_id) {
            drive.send(Message::Leave(grace));
        }
    }

    /// Ends everything, as at the editor's exit.
    pub fn end(&self, grace: Duration) {
        self.stop(grace);
    }

    pub(super) fn configure(&self, config: Config) {
        let config = self.completed(config);
        if let Some(own) = self.own.get() {
            self.followers.set_user(*own, !config.headless);
        }
        *locked(&self.config) = config;
    }

    fn completed(&self, mut config: Config) -> Config {
        if config.state_dir.is_none() {
            // It is the same for every editor and for the command line.
            config.state_dir = file::state_dir().unwrap_or_else(|problem| {
                self.queue.push(json!({ "type": "notice", "level": "warn", "message": problem }));
                None
            });
        }
        config
    }

    /// The newest drive of a project, active or ended.
    pub(super) fn drive(&self, root: &Path) -> Option<Arc<Handle>> {
        locked(&self.drives).get(root).cloned()
    }

    pub(super) fn drives(&self) -> Vec<Arc<Handle>> {
        locked(&self.drives).values().cloned().collect()
    }

    pub(super) fn keep(&self, root: &Path, handle: Handle) -> Arc<Handle> {
        let handle = Arc::new(handle);
        locked(&self.drives).insert(root.to_owned(), handle.clone());
        locked(&self.starting).push((thread::current().id(), handle.clone()));
        handle
    }

    /// Releases the drives that this thread has started, once its request is answered.
    pub(super) fn release_drives(&self) {
        let here = thread::current().id();
        locked(&self.starting)
            .extract_if(.., |(thread, _)| *thread == here)
            .for_each(|(_, handle)| handle.go());
    }

    fn release_all_drives(&self) {
        locked(&self.starting).drain(..).for_each(|(_, handle)| handle.go());
    }

    pub(super) fn is_exiting(&self) -> bool {
        self.exiting.load(Ordering::SeqCst)
    }

    /// Ends everything at exit: no drive starts any more, active ones are interrupted and their agents stopped. Returns
    /// messages about checkpoints that could not be written.
    pub(super) fn stop(&self, grace: Duration) -> Vec<String> {
        let until = Instant::now() + grace + EXIT_MARGIN;
        self.exiting.store(true, Ordering::SeqCst);
        self.comparisons.wait_for_decisions(DECIDING);
        self.cancel.set(true);
        self.release_all_drives();
        let leave = || {
            for drive in self.drives() {
                drive.send(Message::Leave(grace));
            }
        };
        leave();
        let closed = self.worker.close(until);
        // Drives that were started meanwhile.
        self.release_all_drives();
        leave();
        for drive in self.drives() {
            drive.wait(until.saturating_duration_since(Instant::now()));
        }
        self.attention.wait(until.min(Instant::now() + CALLING));
        self.exiting.store(!closed, Ordering::SeqCst);
        self.cancel.set(!closed);
        self.unwritten.close()
    }

    /// The harness names that a declaration may use.
    pub(super) fn harness_names(&self) -> Vec<String> {
        harnesses(&self.config()).named.into_keys().chain(["auto".to_owned()]).collect()
    }

    /// What a drive needs, with the configuration at this moment.
    pub(super) fn host(&self) -> Arc<Host> {
        let config = self.config();
        let (followers, editors) = (self.followers.clone(), self.followers.clone());
        Arc::new(Host {
            call_user: self.attention.caller(&self.followers, &config),
            publish: Box::new(move |delivery, event| followers.publish(delivery, event)),
            has_lua: Box::new(move || editors.has_lua()),
            exit_words: self.home.exit_words(),
            clock: Box::new(Utc::now),
            secrets: self.secrets(),
            harnesses: harnesses(&config),
            keys: self.keys(),
            unwritten: self.unwritten.clone(),
            config,
        })
    }

    /// The keys that authenticate the files of our runs, read from the configured state directory.
    pub(super) fn keys(&self) -> Keyring {
        Keyring::open(State::at(self.config().state_dir.as_deref()))
    }

    /// The secrets of the environment at this moment.
    pub(super) fn secrets(&self) -> Secrets {
        let variables = environ::variables();
        let mut known = locked(&self.secrets);
        if let Some((of, secrets)) = &*known
            && *of == variables
        {
            return secrets.clone();
        }
        let secrets = Secrets::of(&Environment::from(variables.clone()));
        *known = Some((variables, secrets.clone()));
        secrets
    }
}

/// The built-in harnesses, overridden by the user's configuration.
fn harnesses(config: &Config) -> Harnesses {
    let mut harnesses = Harnesses::default();
    harnesses.max_output = config.max_output;
    for (name, config) in &config.harnesses {
        let settings = harnesses.named.entry(name.clone()).or_insert_with(Settings::default);
        if !config.cmd.is_empty() {
            settings.cmd.clone_from(&config.cmd);
        }
        settings.args.clone_from(&config.args);
    }
    harnesses
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_follow_the_current_environment() {
        let engine = Engine::new();
        let of = |name: &str, value: &str| {
            let secrets =
                Secrets::of(&Environment::from(Arc::new(Variables::from([(name.into(), value.into())]))));
            *locked(&engine.secrets) = Some((Arc::default(), secrets));
            engine.secrets().mask(value).into_owned()
        };
        // Secrets of an older environment are not masked.
        assert_eq!(of("SUPERPOWER_SPEC_TOKEN", "long-enough-to-hide"), "long-enough-to-hide");
        let first = locked(&engine.secrets).as_ref().map(|(of, _)| of.clone()).unwrap();
        engine.secrets();
        let again = locked(&engine.secrets).as_ref().map(|(of, _)| of.clone()).unwrap();
        assert!(Arc::ptr_eq(&first, &again), "an unchanged environment is read only once");
    }
}
