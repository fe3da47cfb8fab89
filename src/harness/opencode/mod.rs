//! OpenCode, through its own server: it tells of its retries there, asks for permissions there, and stops its shells
//! when it is told to. Where the server does not come up, one run is all there is, and that is said.
//!
//! Its silent fallback to the default agent is never taken: a subagent is made primary for this run, an agent that
//! only Claude Code's folders have is given by its text, and a name that it does not know ends the run.

mod events;
mod flags;
mod names;
mod permission;
mod progress;
mod rules;
mod run;
mod serve;
mod setup;
mod verdict;
mod wire;

use super::end_text::note;
use super::{Actions, Answer, End, Ending, Harness, Invocation, Launch};
use crate::process::Secrets;
use flags::Flags;
pub use names::NAME;
use run::Run;
use serve::Served;
use setup::{How, Setup};

/// A launch of OpenCode.
pub struct Opencode {
    mode: Mode,
    /// To be said of the mode, once.
    said: Vec<String>,
}

enum Mode {
    Served(Box<Served>),
    Run(Box<Run>),
}

impl Opencode {
    /// OpenCode with these first and these last arguments.
    pub fn new(first: Vec<String>, extra: Vec<String>, launch: &Launch, secrets: &Secrets) -> Self {
        let ours = launch.session.as_ref().filter(|session| session.harness == NAME);
        let resume = ours.map(|session| session.id.clone()).filter(|id| super::is_name(id));
        let (how, said) = How::of(launch);
        let (flags, extra) = Flags::read(extra);
        let setup = Setup { first, extra, how, resume, launch: launch.clone(), secrets: secrets.clone() };
        match flags {
            Ok(flags) => Self {
                mode: Mode::Served(Box::new(Served::new(setup, flags))),
                said: said.into_iter().collect(),
            },
            Err(why) => Self {
                mode: Mode::Run(Box::new(Run::new(setup))),
                said: said.into_iter().chain(why).collect(),
            },
        }
    }

    fn inner(&mut self) -> &mut dyn Harness {
        match &mut self.mode {
            Mode::Served(served) => &mut **served,
            Mode::Run(run) => &mut **run,
        }
    }
}

impl Harness for Opencode {
    fn invocation(&mut self) -> Invocation {
        self.inner().invocation()
    }

    fn line(&mut self, line: &str, lost: u64, to: &mut Actions) {
        to.signals.extend(self.said.drain(..).map(note));
        self.inner().line(line, lost, to);
    }

    fn error_line(&mut self, line: &str, to: &mut Actions) {
        self.inner().error_line(line, to);
    }

    fn answer(&mut self, id: &str, answer: &Answer, to: &mut Actions) {
        self.inner().answer(id, answer, to);
    }

    fn woken(&mut self, to: &mut Actions) {
        self.inner().woken(to);
    }

    fn wrap_up(&mut self, words: &str, to: &mut Actions) -> bool {
        self.inner().wrap_up(words, to)
    }

    fn stop(&mut self, to: &mut Actions) -> bool {
        self.inner().stop(to)
    }

    fn is_server(&self) -> bool {
        matches!(self.mode, Mode::Served(_))
    }

    fn busy(&self) -> bool {
        match &self.mode {
            Mode::Served(served) => served.busy(),
            Mode::Run(run) => run.busy(),
        }
    }

    fn end(&mut self, end: &End, to: &mut Actions) -> Option<Ending> {
        if let Mode::Served(served) = &mut self.mode
            && let Some((setup, why)) = served.given_up(end)
        {
            let what = "one run instead, without asking for permissions and without a word while it retries";
            to.signals.push(note(format!("{why}: {what}")));
            self.mode = Mode::Run(Box::new(Run::new(setup)));
            return None;
        }
        self.inner().end(end, to)
    }
}
