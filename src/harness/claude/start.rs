//! How Claude Code begins: whether it knows the name that it is given, and what is done where it does not.

use super::input::{said, send};
use super::session::{Again, Claude, Phase, agent_file};
use super::start_errors::{Refused, refused};
use super::verdict::is_lost_session;
use crate::harness::end_text::{first_line, note};
use crate::harness::{Actions, Task, agent_file, release};
use crate::outcome::Outcome;
use serde_json::Value;
use std::time::Duration;

impl Claude {
    /// The handshake is answered: the prompt goes in, once the name is known.
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
                    "Claude Code has no {kind} \"{name}\", and no file of the project or user gives its text"
                );
                self.cut = Some(Outcome::FailedForGood { why });
                to.stop = true;
                return;
            };
            to.signals.push(note(format!(
                "Claude Code has no {kind} \"{name}\": the text of {} is given instead",
                file.path
            )));
            unknown = Some(file);
        }
        send(to, &said(&self.told(unknown)));
    }

    /// One shot, the prompt is in already: a skill that it does not know ends it.
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

    /// It did not begin: why, and what there is to do otherwise.
    pub(super) fn refused(&mut self) {
        let errors = self.reader.errors.text();
        if self.resume.is_some() && is_lost_session(&errors) {
            self.again = Some(Again::Afresh);
            return;
        }
        let why = match refused(&errors) {
            Some(Refused::NoPipe) if self.duplex && self.phase == Phase::Starting => {
                (self.duplex, self.again) = (false, Some(Again::NoPipe));
                return;
            }
            Some(Refused::NoAgentOption) if self.by_text.is_none() => match agent_file(&self.launch) {
                Some(file) => {
                    (self.by_text, self.again) = (Some(file), Some(Again::ByText));
                    return;
                }
                None => format!(
                    "this release of Claude Code is too old: it has no \"--agent\", and no file gives the agent's text; \
                     update it to {} or later",
                    release::AGENT_OPTION.version()
                ),
            },
            Some(Refused::Unknown(option)) if self.extra.iter().any(|arg| arg.starts_with(&option)) => {
                format!("Claude Code does not know the option \"{option}\"; see harnesses.claude.args")
            }
            Some(Refused::Unknown(option)) => {
                format!("this release of Claude Code is too old: it has no \"{option}\"; update it")
            }
            Some(Refused::Said(said)) => first_line(&said),
            Some(Refused::NoPipe | Refused::NoAgentOption) => first_line(&errors),
            None => return,
        };
        self.cut = Some(Outcome::FailedForGood { why });
    }
}

/// The names in a list of names, or of objects that have one.
fn names(list: Option<&Value>) -> Option<Vec<&str>> {
    let items = list?.as_array()?;
    Some(items.iter().filter_map(|item| item.as_str().or_else(|| item.get("name")?.as_str())).collect())
}
