//! The start of Claude Code: whether it knows the agent or skill, and the alternatives.

use super::input::{send, user_message};
use super::session::{Claude, Phase, Restart, agent_file};
use super::start_errors::{Refused, refused};
use super::verdict::is_lost_session;
use crate::harness::end_text::{first_line, note};
use crate::harness::{Actions, Task, agent_file, release};
use crate::outcome::Outcome;
use serde_json::Value;
use std::time::Duration;

impl Claude {
    /// After the handshake: checks the name and sends the prompt.
    pub(super) fn begin(&mut self, agents: Option<&Value>, commands: Option<&Value>, to: &mut Actions) {
        self.phase = Phase::Working;
        to.wake = Some(Duration::MAX);
        let (name, kind, known) = match &self.launch.task {
            Task::Agent(name) => (name, "agent", names(agents)),
            Task::Skill(name) => (name, "skill", names(commands)),
        };
        let has = |known: &Vec<&str>| {
            known.iter().any(|k| k == name || k.rsplit_once(':').is_some_and(|(_, k)| k == name))
        };
        let mut unknown = None;
        if self.by_text.is_none() && known.is_some_and(|known| !has(&known)) {
            let Some(file) = agent_file::File::find(&self.launch.task, &self.launch.root) else {
                let why = format!(
                    "Claude Code has no {kind} \"{name}\", and no file of the project or user defines it"
                );
                self.cut = Some(Outcome::FailedForGood { why });
                to.stop = true;
                return;
            };
            to.signals.push(note(format!(
                "Claude Code has no {kind} \"{name}\": the text of {} goes before the prompt instead",
                file.path
            )));
            unknown = Some(file);
        }
        send(to, &user_message(&self.prompt_text(unknown)));
    }

    /// Without a pipe the prompt is sent already, so an unknown skill ends the launch.
    pub(super) fn check_one_shot(&mut self, text: &str, to: &mut Actions) {
        let (Task::Skill(name), None) = (&self.launch.task, &self.by_text) else { return };
        let whole: Value = serde_json::from_str(text).unwrap_or_default();
        let lists = [names(whole.get("skills")), names(whole.get("slash_commands"))];
        if lists.iter().any(Option::is_some) && !lists.iter().flatten().flatten().any(|known| known == name) {
            let why = format!("this release of Claude Code has no skill \"{name}\"");
            self.cut.get_or_insert(Outcome::FailedForGood { why });
            to.stop = true;
        }
    }

    /// After a failed start: chooses another way to start, or the outcome.
    pub(super) fn refused(&mut self) {
        let errors = self.reader.errors.text();
        if self.resume.is_some() && is_lost_session(&errors) {
            self.again = Some(Restart::NewSession);
            return;
        }
        let why = match refused(&errors) {
            Some(Refused::NoPipe) if self.duplex && self.phase == Phase::Starting => {
                (self.duplex, self.again) = (false, Some(Restart::NoPipe));
                return;
            }
            Some(Refused::NoAgentOption) if self.by_text.is_none() => match agent_file(&self.launch) {
                Some(file) => {
                    (self.by_text, self.again) = (Some(file), Some(Restart::ByText));
                    return;
                }
                None => format!(
                    "this release of Claude Code has no \"--agent\", and no file defines the agent; update Claude Code to {} or \
                     later",
                    release::AGENT_OPTION.version()
                ),
            },
            Some(Refused::Unknown(option)) if self.extra.iter().any(|arg| arg.starts_with(&option)) => {
                format!("Claude Code has no option \"{option}\"; see harnesses.claude.args")
            }
            Some(Refused::Unknown(option)) => {
                format!("this release of Claude Code has no option \"{option}\"; update Claude Code")
            }
            Some(Refused::Said(said)) => first_line(&said),
            Some(Refused::NoPipe | Refused::NoAgentOption) => first_line(&errors),
            None => return,
        };
        self.cut = Some(Outcome::FailedForGood { why });
    }
}

/// The names in a list of strings, or of objects with a `name`.
fn names(list: Option<&Value>) -> Option<Vec<&str>> {
    let items = list?.as_array()?;
    Some(items.iter().filter_map(|item| item.as_str().or_else(|| item.get("name")?.as_str())).collect())
}
