//! The state of one Claude Code launch.

pub use super::names::NAME;
use super::permission::Permissions;
use super::progress::Reader;
use super::verdict::Final;
use crate::harness::{Launch, Task, agent_file, is_name, release};
use crate::outcome::Outcome;
use crate::process::Secrets;
use semver::Version;

pub struct Claude {
    pub(super) first: Vec<String>,
    pub(super) extra: Vec<String>,
    pub(super) launch: Launch,
    pub(super) secrets: Secrets,
    pub(super) resume: Option<String>,
    pub(super) phase: Phase,
    pub(super) duplex: bool,
    pub(super) again: Option<Restart>,
    /// The file whose text goes before the prompt, if the agent or skill cannot be named.
    pub(super) by_text: Option<agent_file::File>,
    /// A note to show with the first line of output.
    pub(super) said: Option<String>,
    /// Number of notes about unreadable lines.
    pub(super) unread_notes: u8,
    pub(super) reader: Reader,
    pub(super) permissions: Permissions,
    /// An outcome that is decided before the process ends: a question, a refused login, an unknown name.
    pub(super) cut: Option<Outcome>,
    pub(super) result: Option<Final>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Before the answer to the handshake.
    Starting,
    /// After the prompt was sent.
    Working,
    /// After the last result, as far as is known.
    Ending,
}

/// Why Claude Code is started again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Restart {
    /// The session no longer exists.
    NewSession,
    /// It does not answer over the pipe.
    NoReply,
    NoPipe,
    ByText,
}

impl Claude {
    /// A launch with these arguments before and after our own; `release` is set if it is known.
    pub fn new(
        first: Vec<String>,
        extra: Vec<String>,
        launch: &Launch,
        release: Option<&Version>,
        secrets: &Secrets,
    ) -> Self {
        let ours = launch.session.as_ref().filter(|session| session.harness == NAME);
        let resume = ours.map(|session| session.id.clone()).filter(|id| is_name(id));
        let (by_text, said) = by_text(launch, release).unzip();
        Self {
            first,
            extra,
            by_text,
            said,
            unread_notes: 0,
            reader: Reader::new(launch.root.clone(), resume.is_some(), secrets),
            permissions: Permissions::new(launch),
            launch: launch.clone(),
            secrets: secrets.clone(),
            resume,
            phase: Phase::Starting,
            duplex: true,
            again: None,
            cut: None,
            result: None,
        }
    }

    pub(super) fn prompt_text(&self, unknown: Option<agent_file::File>) -> String {
        let prompt = &self.launch.prompt;
        match (&self.launch.task, unknown.as_ref().or(self.by_text.as_ref())) {
            (_, Some(file)) => file.with_prompt(prompt),
            (Task::Skill(name), None) => format!("/{name} {prompt}"),
            (Task::Agent(_), None) => prompt.clone(),
        }
    }
}

/// The file whose text goes before the prompt from the start, with a note that says why.
fn by_text(launch: &Launch, release: Option<&Version>) -> Option<(agent_file::File, String)> {
    let file = agent_file::File::find(&launch.task, &launch.root)?;
    if !file.is_of_claude() {
        let said = format!("Claude Code does not read {}: its text goes before the prompt", file.path);
        return Some((file, said));
    }
    let is_old = |release: &&Version| !release::AGENT_OPTION.is_met(release);
    let release = release.filter(is_old).filter(|_| matches!(launch.task, Task::Agent(_)))?;
    let otherwise = release::AGENT_OPTION.otherwise;
    Some((file, format!("Claude Code {release} lacks a feature: {otherwise}")))
}

/// The file of the launch's agent.
pub(super) fn agent_file(launch: &Launch) -> Option<agent_file::File> {
    matches!(launch.task, Task::Agent(_)).then(|| agent_file::File::find(&launch.task, &launch.root))?
}
