//! What every operation works with: the configuration, the drives, what is known of open declarations, and the queue of
//! events.

use super::editing::open_documents::Documents;
use super::editing::project_cache::Projects;
use super::looks::Looking;
use super::queue::Queue;
use super::request_worker::Worker;
use super::verbs::gate_lists::GateLists;
use super::verbs::shown::{Claims, ReadAtGates, Sheets};
use crate::config::Config;
use crate::driver::handle::Handle;
use crate::driver::unwritten_checkpoints::Unwritten;
use crate::driver::{Host, Message};
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
use std::sync::{Arc, Mutex, Weak};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

/// What the editor's half and this one agree on; another number means that one of them is older.
pub const PROTOCOL: u32 = 2;

/// How long drives may take to end beyond the grace of their agents.
const LEAVING: Duration = Duration::from_secs(2);

/// How long a decision that is being made is waited for before its look at the files is ended.
const DECIDING: Duration = Duration::from_secs(1);

/// The engine behind the door.
#[derive(Default)]
pub struct Engine {
    pub(super) me: Weak<Engine>,
    pub(super) queue: Arc<Queue>,
    config: Mutex<Config>,
    /// The newest drive of each project root.
    drives: Mutex<HashMap<PathBuf, Arc<Handle>>>,
    /// Checkpoints that drives which are over could not write.
    pub(super) unwritten: Arc<Unwritten>,
    /// Drives that whoever set them going is still to hear of.
    starting: Mutex<Vec<(ThreadId, Arc<Handle>)>>,
    pub(super) worker: Worker,
    pub(super) runs: RunCache,
    pub(super) sheets: Sheets,
    pub(super) claims: Claims,
    pub(super) gate_lists: GateLists,
    pub(super) looking: Looking,
    pub(super) read_at_gates: ReadAtGates,
    leaving: AtomicBool,
    /// What the worker wants of git is not waited for.
    pub(super) cancel: CancelToken,
    pub(super) documents: Arc<Documents>,
    pub(super) projects: Projects,
    /// The secrets of the environment that was seen last: their pattern takes longer to make than most answers.
    secrets: Mutex<Option<(Arc<Variables>, Secrets)>>,
}

impl Engine {
    /// An engine that drives nothing yet.
    pub fn new() -> Arc<Self> {
        crate::store::disk::arm_from_environment();
        Arc::new_cyclic(|me| Self { me: me.clone(), ..Self::default() })
    }

    /// The queue of events for the editor.
    pub fn queue(&self) -> &Arc<Queue> {
        &self.queue
    }

    /// Tells the editor something that no drive tells.
    pub(super) fn notice(&self, root: &Path, level: &str, message: &str) {
        self.queue.push(json!({ "type": "notice", "root": root, "level": level, "message": message }));
    }

    /// Says something that belongs to the answer of a verb: it is said whatever the user wants to hear of.
    pub(super) fn say_answer(&self, root: &Path, message: &str) {
        let notice =
            json!({ "type": "notice", "root": root, "level": "info", "answer": true, "message": message });
        self.queue.push(notice);
    }

    pub(super) fn config(&self) -> Config {
        locked(&self.config).clone()
    }

    pub(super) fn configure(&self, config: Config) {
        *locked(&self.config) = config;
    }

    /// The newest drive of a project, over or not.
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

    /// Lets the drives that this thread has begun go on: who asked for them has been answered.
    pub(super) fn set_going(&self) {
        let here = thread::current().id();
        locked(&self.starting)
            .extract_if(.., |(thread, _)| *thread == here)
            .for_each(|(_, handle)| handle.go());
    }

    fn set_all_going(&self) {
        locked(&self.starting).drain(..).for_each(|(_, handle)| handle.go());
    }

    pub(super) fn is_leaving(&self) -> bool {
        self.leaving.load(Ordering::SeqCst)
    }

    /// The editor leaves: nothing begins any more, every drive is interrupted, every agent ended. Gives what to say of
    /// checkpoints that stay unwritten.
    pub(super) fn stop(&self, grace: Duration) -> Vec<String> {
        let until = Instant::now() + grace + LEAVING;
        self.leaving.store(true, Ordering::SeqCst);
        self.looking.wait_for_decisions(DECIDING);
        self.cancel.set(true);
        self.set_all_going();
        let leave = || {
            for drive in self.drives() {
                drive.tell(Message::Leave(grace));
            }
        };
        leave();
        let closed = self.worker.close(until);
        // What was begun meanwhile.
        self.set_all_going();
        leave();
        for drive in self.drives() {
            drive.wait(until.saturating_duration_since(Instant::now()));
        }
        self.leaving.store(!closed, Ordering::SeqCst);
        self.cancel.set(!closed);
        self.unwritten.close()
    }

    /// The harnesses that a declaration may name.
    pub(super) fn harness_names(&self) -> Vec<String> {
        harnesses(&locked(&self.config)).named.into_keys().chain(["auto".to_owned()]).collect()
    }

    /// What a drive works with: the configuration as it is now.
    pub(super) fn host(&self) -> Arc<Host> {
        let config = self.config();
        let queue = self.queue.clone();
        Arc::new(Host {
            publish: Box::new(move |key, event| queue.push_text(key, event)),
            clock: Box::new(Utc::now),
            secrets: self.secrets(),
            harnesses: harnesses(&config),
            keys: self.keys(),
            unwritten: self.unwritten.clone(),
            config,
        })
    }

    /// What makes the files of runs ours, as our state has it now.
    pub(super) fn keys(&self) -> Keyring {
        Keyring::open(State::at(locked(&self.config).state_dir.as_deref()))
    }

    /// The secrets of the environment as it is now.
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

/// The known harnesses with what the user configured.
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
    fn secrets_are_those_of_the_environment_as_it_is_now() {
        let engine = Engine::new();
        let of = |name: &str, value: &str| {
            let secrets =
                Secrets::of(&Environment::from(Arc::new(Variables::from([(name.into(), value.into())]))));
            *locked(&engine.secrets) = Some((Arc::default(), secrets));
            engine.secrets().mask(value).into_owned()
        };
        // What was kept of another environment does not count.
        assert_eq!(of("SUPERPOWER_SPEC_TOKEN", "long-enough-to-hide"), "long-enough-to-hide");
        let first = locked(&engine.secrets).as_ref().map(|(of, _)| of.clone()).unwrap();
        engine.secrets();
        let again = locked(&engine.secrets).as_ref().map(|(of, _)| of.clone()).unwrap();
        assert!(Arc::ptr_eq(&first, &again), "an environment that is the same is not read again");
    }
}
