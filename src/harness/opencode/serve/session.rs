//! The steps before the prompt: checks the password, model and agent, and opens a session in this directory.

use super::{Served, get, post, request, rules};
use crate::harness::agent_file::File;
use crate::harness::end_text::note;
use crate::harness::opencode::names::NAME;
use crate::harness::opencode::setup::How;
use crate::harness::{Actions, Signal, Task, Way, is_name};
use crate::outcome::{Outcome, Session};
use crate::store::beneath::real;
use serde_json::{Value, json};
use std::path::Path;

impl Served {
    /// Checks first that the server refuses requests without the password.
    pub(super) fn connected(&mut self, to: &mut Actions) {
        request("stranger", "/permission", Way::Stranger, to);
    }

    /// Refuses releases before 2026, which have no password and ask for permissions in another way.
    pub(super) fn check_password(&mut self, status: Option<f64>, to: &mut Actions) {
        if status != Some(401.0) {
            self.give_up("this release does not ask for a password", to);
        } else if self.flags.model.is_some() {
            get("models", "/config/providers", to);
        } else {
            get("agents", "/agent", to);
        }
    }

    /// Checks the model, because OpenCode would retry an unknown one for a minute.
    pub(super) fn models(&mut self, known: Option<&Value>, to: &mut Actions) {
        let providers = known.and_then(|known| known["providers"].as_array()).filter(|all| !all.is_empty());
        if let (Some(providers), Some((provider, model))) = (providers, &self.flags.model) {
            let of = providers.iter().find(|it| it["id"] == provider.as_str());
            if of.is_none_or(|it| it["models"].get(model).is_none()) {
                let why = format!(
                    "OpenCode has no model \"{provider}/{model}\"; see harnesses.opencode.args and `opencode models`"
                );
                return self.fail(Outcome::FailedForGood { why }, to);
            }
        }
        get("agents", "/agent", to);
    }

    /// Checks the agents' rules and name: if the user has rules for commands, ours are removed and the server restarted.
    pub(super) fn agents(&mut self, known: &Value, to: &mut Actions) {
        if self.rules.is_some() && rules::users_speak(known) {
            self.rules = None;
            self.again = true;
            to.stop = true;
            return;
        }
        match (&self.setup.launch.task, &self.setup.how) {
            (_, How::ByText(_)) => self.session(to),
            (Task::Agent(_), _) => self.agent(known, to),
            (Task::Skill(_), _) => get("commands", "/command", to),
        }
    }

    pub(super) fn session(&mut self, to: &mut Actions) {
        match &self.setup.resume {
            Some(id) => get("session", &format!("/session/{id}"), to),
            None => post("session", "/session", json!({"title": self.setup.title()}), to),
        }
    }

    fn agent(&mut self, known: &Value, to: &mut Actions) {
        let name = self.setup.name();
        let found = known.as_array().and_then(|all| all.iter().find(|agent| agent["name"] == name));
        match found.map(|agent| agent["mode"].as_str().unwrap_or_default()) {
            None => {
                let unknown = self.setup.unknown();
                self.fail(unknown, to);
            }
            Some("subagent") if self.setup.how == How::Named => {
                self.setup.how = How::MadePrimary;
                self.again = true;
                to.signals.push(note(self.setup.made_primary()));
                to.stop = true;
            }
            Some(_) => self.session(to),
        }
    }

    pub(super) fn commands(&mut self, known: &Value, to: &mut Actions) {
        let name = self.setup.name();
        let has = known.as_array().is_some_and(|all| all.iter().any(|command| command["name"] == name));
        if has {
            return self.session(to);
        }
        let Some(file) = File::find(&self.setup.launch.task, &self.setup.launch.root) else {
            let unknown = self.setup.unknown();
            return self.fail(unknown, to);
        };
        to.signals.push(note(format!(
            "OpenCode has no skill \"{name}\": the text of {} goes before the prompt instead",
            file.path
        )));
        self.setup.how = How::ByText(file);
        self.session(to);
    }

    pub(super) fn session_is(&mut self, session: &Value, to: &mut Actions) {
        let id = session["id"].as_str().unwrap_or_default();
        let place = Path::new(session["directory"].as_str().unwrap_or_default());
        let root = &self.setup.launch.root;
        let elsewhere = place != root && real(root).is_ok_and(|root| root != place);
        if !is_name(id) {
            self.give_up("it does not create a session", to);
        } else if self.setup.resume.is_some() && elsewhere {
            self.start_new_session(
                "the agent's session belongs to another directory; starting a new one",
                to,
            );
        } else {
            id.clone_into(&mut self.watch.session);
            to.signals.push(Signal::Session(Session { harness: NAME.to_owned(), id: id.to_owned() }));
            self.prompt(to);
        }
    }

    pub(super) fn start_new_session(&mut self, why: &str, to: &mut Actions) {
        self.setup.resume = None;
        to.signals.push(note(why));
        self.session(to);
    }
}
