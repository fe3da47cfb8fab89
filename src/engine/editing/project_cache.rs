//! The cached state of a project while its declarations are edited.
//!
//! Typing must not wait for the disk. The project is first read by the thread that checks the first of its declarations;
//! from then on the cached state is used at once and read again on a thread. If that finds a change, the editor gets an
//! event and asks again.

use crate::engine::queue::Queue;
use crate::plan::Inputs;
use crate::project::{Fact, Index, Places, facts};
use crate::sync::locked;
use serde_json::json;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Maximum age of cached state before it is read again.
const MAX_AGE: Duration = Duration::from_secs(2);

/// Maximum number of cached facts: each default value of an input gives new ones while it is typed.
const MAX_FACTS: usize = 64;

/// A fact's name and the inputs it was decided with.
type Asked = (String, Inputs);

/// The cached state of one project.
pub struct Known {
    root: PathBuf,
    places: Places,
    state: Mutex<State>,
}

struct State {
    /// `None` before the project is read for the first time.
    index: Option<Arc<Index>>,
    facts: HashMap<Asked, Option<Fact>>,
    read: Instant,
    reading: bool,
    /// Whether something changed during the read, so that another read is due.
    again: bool,
}

/// The projects whose declarations are edited.
#[derive(Default)]
pub struct Projects {
    all: Mutex<HashMap<PathBuf, Arc<Known>>>,
}

impl Projects {
    /// The cached state of the project, which may be empty.
    pub fn known(&self, root: &Path, places: Places) -> Arc<Known> {
        let mut all = locked(&self.all);
        if let Some(known) = all.get(root).filter(|known| known.places == places) {
            return known.clone();
        }
        let known = Arc::new(Known::new(root, places));
        all.insert(root.to_owned(), known.clone());
        known
    }
}

impl Known {
    fn new(root: &Path, places: Places) -> Self {
        let state =
            State { index: None, facts: HashMap::new(), read: Instant::now(), reading: false, again: false };
        Self { root: root.to_owned(), places, state: Mutex::new(state) }
    }

    /// Reads the project if it is not cached yet. Slow.
    pub fn read(&self) -> Arc<Index> {
        if let Some(known) = &locked(&self.state).index {
            return known.clone();
        }
        let index = Arc::new(Index::read(&self.root, &self.places));
        let mut state = locked(&self.state);
        state.read = Instant::now();
        state.index.get_or_insert(index).clone()
    }

    /// Agents, skills and superpowers; `None` before the first read. Old state is returned at once and read again on a
    /// thread.
    pub fn index(self: &Arc<Self>, queue: &Arc<Queue>) -> Option<Arc<Index>> {
        let state = locked(&self.state);
        let index = state.index.clone();
        let old = index.is_some() && state.read.elapsed() > MAX_AGE && !state.reading;
        drop(state);
        if old {
            self.renew(queue);
        }
        index
    }

    /// A fact for the project as it is now; `None` if only Lua can decide it.
    pub fn fact(&self, name: &str, inputs: &Inputs) -> Option<Fact> {
        let asked = (name.to_owned(), inputs.clone());
        if let Some(known) = locked(&self.state).facts.get(&asked) {
            return known.clone();
        }
        let fact = facts::decide(name, inputs, &self.root);
        let mut state = locked(&self.state);
        if state.facts.len() >= MAX_FACTS {
            state.facts.clear();
        }
        state.facts.insert(asked, fact.clone());
        fact
    }

    /// Reads everything again on a thread, and sends an event if something changed.
    pub fn renew(self: &Arc<Self>, queue: &Arc<Queue>) {
        let mut state = locked(&self.state);
        state.again = state.reading;
        if state.reading {
            return;
        }
        state.reading = true;
        drop(state);
        let (known, queue) = (self.clone(), queue.clone());
        let thread = std::thread::Builder::new().name("superpower-project".to_owned());
        let started = thread.spawn(move || {
            while let Some(new) = known.read_again() {
                if new {
                    let event = json!({ "type": "project-changed", "root": known.root });
                    queue.push_latest(&format!("project-changed {}", known.root.display()), event);
                }
            }
        });
        if started.is_err() {
            locked(&self.state).reading = false;
        }
    }

    /// One read: whether something changed. `None` if no read is due.
    fn read_again(&self) -> Option<bool> {
        let asked: Vec<Asked> = {
            let mut state = locked(&self.state);
            if !state.reading {
                return None;
            }
            state.again = false;
            state.facts.keys().cloned().collect()
        };
        let read = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let index = Index::read(&self.root, &self.places);
            let decide = |asked: Asked| {
                let fact = facts::decide(&asked.0, &asked.1, &self.root);
                (asked, fact)
            };
            (index, asked.into_iter().map(decide).collect::<HashMap<_, _>>())
        }));
        let mut state = locked(&self.state);
        state.reading = state.again;
        state.read = Instant::now();
        let Ok((index, facts)) = read else { return Some(false) };
        let new = state.index.as_deref() != Some(&index)
            || facts.iter().any(|(asked, fact)| state.facts.get(asked) != Some(fact));
        state.index = Some(Arc::new(index));
        state.facts.extend(facts);
        Some(new)
    }
}
