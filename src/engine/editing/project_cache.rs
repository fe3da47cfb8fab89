//! What is known of a project while its declarations are edited.
//!
//! Typing must not wait for the disk. So the project is read once, by the thread that checks the first of its
//! declarations; what was read is used at once ever after, and is read again by a thread. Where that finds something
//! new, the editor is told and asks again.

use crate::engine::queue::Queue;
use crate::plan::Inputs;
use crate::project::{Fact, Index, Places, facts};
use crate::sync::locked;
use serde_json::json;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How old knowledge may be when it is used without reading again.
const FRESH: Duration = Duration::from_secs(2);

/// How many decided facts are kept: inputs' defaults that are being typed make more and more of them.
const FACTS: usize = 64;

/// A fact's name and the inputs that it was decided with.
type Asked = (String, Inputs);

/// What is known of one project.
pub struct Known {
    root: PathBuf,
    places: Places,
    state: Mutex<State>,
}

struct State {
    /// None before the first reading.
    index: Option<Arc<Index>>,
    facts: HashMap<Asked, Option<Fact>>,
    read: Instant,
    reading: bool,
    /// Something changed while it was being read.
    again: bool,
}

/// The projects whose declarations are edited.
#[derive(Default)]
pub struct Projects {
    all: Mutex<HashMap<PathBuf, Arc<Known>>>,
}

impl Projects {
    /// What is known of the project, which may be nothing yet.
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

    /// Reads the project, where it was not read yet. This takes its time.
    pub fn read(&self) -> Arc<Index> {
        if let Some(known) = &locked(&self.state).index {
            return known.clone();
        }
        let index = Arc::new(Index::read(&self.root, &self.places));
        let mut state = locked(&self.state);
        state.read = Instant::now();
        state.index.get_or_insert(index).clone()
    }

    /// Agents, skills and superpowers; none before they are read. Old knowledge is given all the same, and renewed behind
    /// the editor's back.
    pub fn index(self: &Arc<Self>, queue: &Arc<Queue>) -> Option<Arc<Index>> {
        let state = locked(&self.state);
        let index = state.index.clone();
        let old = index.is_some() && state.read.elapsed() > FRESH && !state.reading;
        drop(state);
        if old {
            self.renew(queue);
        }
        index
    }

    /// A fact as it is now; none where only Lua can decide it.
    pub fn fact(&self, name: &str, inputs: &Inputs) -> Option<Fact> {
        let asked = (name.to_owned(), inputs.clone());
        if let Some(known) = locked(&self.state).facts.get(&asked) {
            return known.clone();
        }
        let fact = facts::decide(name, inputs, &self.root);
        let mut state = locked(&self.state);
        if state.facts.len() >= FACTS {
            state.facts.clear();
        }
        state.facts.insert(asked, fact.clone());
        fact
    }

    /// Reads everything again in a thread, and tells the editor where something is new.
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

    /// One round: whether there is something new. None where no round is due any more.
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
