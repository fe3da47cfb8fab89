//! What a run would drive next, held against what the user agreed to.

use super::{Drive, Host};
use crate::config::{Config, Trust};
use crate::declaration::model::Declaration;
use crate::harness::{Harnesses, Kind, resolve};
use crate::project::trust::{self, Change, Driven, Subject, Tools};
use crate::project::{Index, Places};
use crate::run::effect::Effect;
use crate::run::event::Event;
use crate::store::state::State;
use std::path::{Path, PathBuf};

/// Our state, with the answers that older versions kept elsewhere; none for a project that holds it.
pub fn state(config: &Config, root: &Path) -> Option<State> {
    let state = State::at(config.state_dir.as_deref()).filter(|state| state.is_outside(root))?;
    if let Some(old) = &config.old_state_dir {
        trust::take_over(&state, old);
    }
    Some(state)
}

/// What carries out each stage: its own harness, else the run's, else the configuration's.
pub fn tools(
    root: &Path,
    declaration: &Declaration,
    run: Option<&str>,
    config: &Config,
    harnesses: &Harnesses,
) -> Vec<Tools> {
    let stages = declaration.stages.iter();
    let named = stages.map(|stage| stage.harness.as_ref().map(|harness| harness.value.as_str()));
    named.map(|own| of(root, own.or(run).unwrap_or(&config.harness), harnesses)).collect()
}

fn of(root: &Path, harness: &str, harnesses: &Harnesses) -> Tools {
    match resolve(harness, harnesses, Some(root)).map(|resolved| resolved.kind) {
        Ok(Kind::Claude) => Tools::Claude,
        Ok(Kind::Opencode) => Tools::Opencode,
        Ok(Kind::Command | Kind::Fake(_)) => Tools::Any,
        // Without its program nothing is started; once it is found, there is more to agree to.
        Ok(Kind::Manual) | Err(_) => Tools::Nobody,
    }
}

/// The file of a superpower, or where it was.
pub fn path(root: &Path, index: &Index, name: &str) -> PathBuf {
    let named = index.superpower(name).map(|file| file.path.clone());
    named.unwrap_or_else(|_| root.join(".claude/superpowers").join(format!("{name}.yaml")))
}

/// The names of changes, as a journal keeps them.
pub fn words(changes: &[Change]) -> Vec<String> {
    changes.iter().map(Change::to_string).collect()
}

impl Host {
    /// The answers on record, where they count.
    fn answers(&self, root: &Path) -> Option<State> {
        if self.config.trust == Trust::Always { None } else { state(&self.config, root) }
    }
}

impl Drive {
    /// Before an agent starts, looks whether what it would drive was changed since the user agreed. Then the run is
    /// paused instead, in the same flush.
    pub(super) fn check_trust(&mut self) {
        let start = |effect: &Effect| matches!(effect, Effect::StartAgent { .. });
        let Some(at) = self.pending.iter().position(start) else { return };
        let Effect::StartAgent { stage, launch, resume, .. } = self.pending[at] else { return };
        if self.host.config.trust == Trust::Always || self.working(launch).is_none() {
            return;
        }
        let Some(files) = self.lapsed(stage) else { return };
        if self.apply(Event::TrustLapsed { launch, resume, files }).is_ok() {
            self.pending.remove(at);
            // The line that says whom it is handed to: it is handed to nobody.
            if at > 0 && matches!(self.pending[at - 1], Effect::Log(_)) {
                self.pending.remove(at - 1);
            }
        }
    }

    /// What a stage would drive that the user did not agree to.
    fn lapsed(&mut self, stage: usize) -> Option<Vec<String>> {
        let Some(state) = self.host.answers(&self.root) else { return Some(Vec::new()) };
        let (index, driven) = self.driven();
        match Subject::read(&self.root, &index, &driven, &mut self.trusted) {
            Ok(subject) => subject.lapsed(&state, &driven, stage).map(|changes| words(&changes)),
            Err(too_much) => Some(vec![too_much.to_string()]),
        }
    }

    /// Says in the log which of the trusted files are not what they were, when a gate opens that asks about them.
    pub(super) fn say_what_lapsed(&mut self) {
        let Some(state) = self.host.answers(&self.root) else { return };
        let (index, driven) = self.driven();
        let Ok(subject) = Subject::read(&self.root, &index, &driven, &mut self.trusted) else { return };
        let changes = subject.changed_files(&state);
        if !changes.is_empty() {
            self.log(&format!("TRUST  changed since you trusted it: {}", words(&changes).join(", ")));
        }
    }

    /// What this drive works with. The declaration is the one in memory.
    fn driven(&self) -> (Index, Driven) {
        let (config, plan) = (&self.host.config, &self.run.plan);
        let index = Index::read(&self.root, &Places::from_env(config.places.clone()));
        let driven = Driven {
            kept: None,
            tools: tools(
                &self.root,
                &plan.declaration,
                self.run.harness.as_deref(),
                config,
                &self.host.harnesses,
            ),
            path: path(&self.root, &index, plan.name()),
            declaration: plan.declaration.clone(),
            bytes: Vec::new(),
        };
        (index, driven)
    }
}
