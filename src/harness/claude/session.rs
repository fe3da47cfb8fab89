//! A launch of Claude Code: what is known of it, and how it is spoken to.

pub use super::names::NAME;
use super::permission::Permissions;
use super::progress::Reader;
use super::verdict::Final;
use crate::harness::{Launch, Task, agent_file, is_name, release};
use crate::outcome::Outcome;
use crate::process::Secrets;
use semver::Version;

/// A launch of Claude Code.
pub struct Claude {
    pub(super) first: Vec<String>,
    pub(super) extra: Vec<String>,
    pub(super) launch: Launch,
    pub(super) secrets: Secrets,
    pub(super) resume: Option<String>,
    pub(super) phase: Phase,
    pub(super) duplex: bool,
    pub(super) again: Option<Again>,
    /// The file's text goes before the prompt, since this release cannot be given its name.
    pub(super) by_text: Option<agent_file::File>,
    /// To be said once it speaks.
    pub(super) said: Option<String>,
    /// Lines that were named.
    pub(super) named: u8,
    pub(super) reader: Reader,
    pub(super) permissions: Permissions,
    /// What ends it before its own end does: a question, a refused login, a name that nobody knows.
    pub(super) cut: Option<Outcome>,
    pub(super) result: Option<Final>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// The handshake is not answered yet.
    Starting,
    /// It has its prompt.
    Working,
    /// Its last result is there, as far as can be known.
    Ending,
}

/// Why it is started again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Again {
    /// Its session is gone.
    Afresh,
    /// It does not answer over its pipe.
    Silent,
    /// It has no pipe.
    NoPipe,
    /// It has no `--agent`.
    ByText,
}

impl Claude {
    /// Claude Code with these first and these last arguments; its release where that is known.
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
            named: 0,
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

    pub(super) fn told(&self, unknown: Option<agent_file::File>) -> String {
        let prompt = &self.launch.prompt;
        match (&self.launch.task, unknown.as_ref().or(self.by_text.as_ref())) {
            (_, Some(file)) => file.told(prompt),
            (Task::Skill(name), None) => format!("/{name} {prompt}"),
            (Task::Agent(_), None) => prompt.clone(),
        }
    }
}

/// The file whose text goes before the prompt from the start, with what is said of that.
fn by_text(launch: &Launch, release: Option<&Version>) -> Option<(agent_file::File, String)> {
    let file = agent_file::File::find(&launch.task, &launch.root)?;
    if !file.is_of_claude() {
        let said = format!("Claude Code does not read {}: its text is given before the prompt", file.path);
        return Some((file, said));
    }
    let is_old = |release: &&Version| !release::AGENT_OPTION.is_met(release);
    let release = release.filter(is_old).filter(|_| matches!(launch.task, Task::Agent(_)))?;
    let otherwise = release::AGENT_OPTION.otherwise;
    Some((file, format!("Claude Code {release} is too old for some things: {otherwise}")))
}

/// The file of the agent that is asked for.
pub(super) fn agent_file(launch: &Launch) -> Option<agent_file::File> {
    matches!(launch.task, Task::Agent(_)).then(|| agent_file::File::find(&launch.task, &launch.root))?
}
