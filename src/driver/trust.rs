//! Compares what a run would drive next with what the user agreed to.

use super::announcement::Announcement;
use super::current_launch::working;
use super::follow_up::Act;
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

/// Our state, with answers of older versions imported; `None` if it is inside the project.
pub fn state(config: &Config, root: &Path) -> Option<State> {
    let state = State::at(config.state_dir.as_deref()).filter(|state| state.is_outside(root))?;
    if let Some(old) = &config.old_state_dir {
        trust::take_over(&state, old);
    }
    Some(state)
}

/// The tools of each stage, from its own harness, the run's, or the configuration's.
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
        // Without the program nothing is started. Once it is installed, there is more to agree to.
        Ok(Kind::Manual) | Err(_) => Tools::Nobody,
    }
}

/// The file of a superpower, or the path where it was.
pub fn path(root: &Path, index: &Index, name: &str) -> PathBuf {
    let named = index.superpower(name).map(|file| file.path.clone());
    named.unwrap_or_else(|_| root.join(".claude/superpowers").join(format!("{name}.yaml")))
}

/// Descriptions of changes, as the journal stores them.
pub fn words(changes: &[Change]) -> Vec<String> {
    changes.iter().map(Change::to_string).collect()
}

impl Host {
    /// The saved answers, if trust is enabled.
    fn answers(&self, root: &Path) -> Option<State> {
        if self.config.trust == Trust::Always { None } else { state(&self.config, root) }
    }
}

impl Drive {
    /// Before an agent starts, checks whether files that it would use have changed since the user agreed. If so, the
    /// run is paused in the same flush.
    pub(super) fn check_trust(&mut self) {
        let Some(at) = self.fresh.iter().position(|effect| self.is_start(effect)) else { return };
        if self.pause_for_trust(&self.fresh[at].clone()) {
            self.fresh.remove(at);
            // Remove the log line that announces the launch.
            if at > 0 && matches!(self.fresh[at - 1], Effect::Log(_)) {
                self.fresh.remove(at - 1);
            }
        }
    }

    /// Checks launches that waited for a comparison of files, which may have taken long.
    pub(super) fn check_trust_of_queue(&mut self) {
        let start = |act: &Act| matches!(act, Act::Effect(effect) if self.is_start(effect));
        let Some(at) = self.queue.iter().position(start) else { return };
        let Act::Effect(effect) = &self.queue[at] else { return };
        if self.pause_for_trust(&effect.clone()) {
            self.queue.remove(at);
            if at > 0 && matches!(self.queue[at - 1], Act::Effect(Effect::Log(_))) {
                self.queue.remove(at - 1);
            }
        }
    }

    fn is_start(&self, effect: &Effect) -> bool {
        matches!(effect, Effect::StartAgent { launch, .. } if working(&self.run, *launch).is_some())
    }

    /// Pauses the run if this launch is not trusted; returns whether it did.
    fn pause_for_trust(&mut self, start: &Effect) -> bool {
        let Effect::StartAgent { stage, launch, resume, .. } = *start else { return false };
        if self.host.config.trust == Trust::Always {
            return false;
        }
        let Some(files) = self.lapsed(stage) else { return false };
        self.step(Event::TrustLapsed { launch, resume, files }).is_ok()
    }

    /// The files of a stage that the user did not agree to.
    fn lapsed(&mut self, stage: usize) -> Option<Vec<String>> {
        let Some(state) = self.host.answers(&self.root) else { return Some(Vec::new()) };
        let (index, driven) = self.driven();
        match Subject::read(&self.root, &index, &driven, &mut self.trusted) {
            Ok(subject) => subject.lapsed(&state, &driven, stage).map(|changes| words(&changes)),
            Err(too_much) => Some(vec![too_much.to_string()]),
        }
    }

    /// When a gate opens that asks about changed files, lists in the log which trusted files have changed.
    pub(super) fn say_what_lapsed(&mut self) {
        let Some(state) = self.host.answers(&self.root) else { return };
        let (index, driven) = self.driven();
        let Ok(subject) = Subject::read(&self.root, &index, &driven, &mut self.trusted) else { return };
        let changes = subject.changed_files(&state);
        if !changes.is_empty() {
            let line = format!("TRUST  changed since you trusted it: {}", words(&changes).join(", "));
            self.announcements.push(Announcement::Log(line));
        }
    }

    /// What this drive uses. The declaration is the one in memory.
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
