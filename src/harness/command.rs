//! The `command` harness: the user's own command gets the prompt on standard input and prints its final message on standard
//! output; its exit status decides the outcome.

use super::end_text::cut_line;
use super::tail::Tail;
use super::{Actions, End, Ending, Harness, Invocation, Launch, Progress, Signal, Task};
use crate::outcome::{Outcome, Usage};
use crate::process::{Exit, Secrets};
use crate::prompt::tail;

/// Maximum size of the final message; only its end is kept, because a verdict would be there.
const MESSAGE: usize = 1 << 20;
/// How much of the output goes into the next attempt's prompt, in bytes.
const TAIL: usize = 4096;

pub struct Command {
    args: Vec<String>,
    prompt: String,
    message: Tail,
    errors: Tail,
}

impl Command {
    /// A launch with these arguments, in which placeholders are replaced.
    pub fn new(args: Vec<String>, launch: &Launch, secrets: &Secrets) -> Self {
        Self {
            args: args.iter().map(|arg| fill(arg, launch)).collect(),
            prompt: launch.prompt.clone(),
            message: Tail::new(MESSAGE, secrets),
            errors: Tail::new(TAIL, secrets),
        }
    }

    /// The end of the output. Standard error comes last, because the order between the two pipes is unknown.
    fn printed(&self) -> String {
        let (message, errors) = (self.message.text(), self.errors.text());
        let errors = tail(&errors, TAIL.saturating_sub(message.len()).max(TAIL / 2));
        tail(&message, TAIL - errors.len()).to_owned() + errors
    }

    fn asked(&self, message: &str) -> String {
        let asked = if message.is_empty() { self.errors.text() } else { message.to_owned() };
        if asked.trim().is_empty() {
            "the agent asked for input without saying what it needs".to_owned()
        } else {
            asked.trim().to_owned()
        }
    }
}

impl Harness for Command {
    fn invocation(&mut self) -> Invocation {
        Invocation {
            args: self.args.clone(),
            stdin: self.prompt.clone().into_bytes(),
            ..Invocation::default()
        }
    }

    fn line(&mut self, line: &str, lost: u64, to: &mut Actions) {
        self.message.line(line);
        to.signals.push(Signal::Progress(Progress::Text { text: format!("{line}\n") }));
        if lost > 0 {
            to.signals.push(cut_line(lost));
        }
    }

    fn error_line(&mut self, line: &str, _to: &mut Actions) {
        self.errors.line(line);
    }

    fn end(&mut self, end: &End, _to: &mut Actions) -> Option<Ending> {
        let mut message = self.message.text().trim().to_owned();
        if self.message.lost() > 0 {
            message = format!("[{} bytes before this were dropped]\n{message}", self.message.lost());
        }
        let outcome = match end.exit {
            Exit::Code(0) if message.is_empty() => Outcome::Failed { why: "no output".to_owned() },
            Exit::Code(0) => Outcome::Passed,
            Exit::Code(2 | 3) => Outcome::NeedsHuman { question: self.asked(&message) },
            Exit::Code(4) => Outcome::Blocked { why: self.asked(&message) },
            exit => Outcome::Exited { why: super::end_text::exit_words(exit) },
        };
        Some(Ending { outcome, message, usage: Usage::default(), refusals: Vec::new(), tail: self.printed() })
    }
}

/// Replaces the placeholders of one argument; inserted values are not searched again.
fn fill(arg: &str, launch: &Launch) -> String {
    let (agent, skill) = match &launch.task {
        Task::Agent(name) => (name.as_str(), ""),
        Task::Skill(name) => ("", name.as_str()),
    };
    let (stage, run_id) = (launch.stage.to_string(), launch.run_id.as_str());
    let known = [("{agent}", agent), ("{skill}", skill), ("{stage}", stage.as_str()), ("{run_id}", run_id)];
    let mut out = String::new();
    let mut rest = arg;
    while let Some(at) = rest.find('{') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let (taken, value) = known
            .iter()
            .find(|(name, _)| rest.starts_with(name))
            .map_or((1, "{"), |(name, value)| (name.len(), *value));
        out.push_str(value);
        rest = &rest[taken..];
    }
    out + rest
}
