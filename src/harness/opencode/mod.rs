//! OpenCode, driven through its own server, which reports its retries, asks for permissions, and stops its shells on
//! request. If the server does not start, `opencode run` is used once, and a note says so.
//!
//! OpenCode must never fall back to its default agent: a subagent is made primary for this run, an agent that only Claude
//! Code's directories have is given by its text, and an unknown name ends the launch.

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

pub struct Opencode {
    mode: Mode,
    /// Notes to show with the first line of output.
    said: Vec<String>,
}

enum Mode {
    Served(Box<Served>),
    Run(Box<Run>),
}

impl Opencode {
    /// A launch with these arguments before and after our own.
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
            let what = "running OpenCode once instead, without asking for permissions and without reports of retries";
            to.signals.push(note(format!("{why}: {what}")));
            self.mode = Mode::Run(Box::new(Run::new(setup)));
            return None;
        }
        self.inner().end(end, to)
    }
}
