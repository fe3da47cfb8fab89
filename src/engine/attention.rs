//! Calls the user: through an editor that follows, else by the command of their configuration. That is run without a
//! shell, one at a time, and what goes wrong with it is said once.

use super::followers::Followers;
use crate::config::Config;
use crate::driver::UserCall;
use crate::environ;
use crate::process::{Environment, ShortProgram};
use crate::sync::{locked, wait_until};
use serde::Deserialize;
use serde_json::json;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// How long the command may take.
const LIMIT: Duration = Duration::from_secs(10);
/// Calls that may wait for it; more are dropped, the oldest first.
const MAX_WAITING: usize = 16;
/// Different faults that are said.
const MAX_FAULTS: usize = 16;

/// What a call says.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Words {
    root: PathBuf,
    title: String,
    body: String,
}

/// Runs the commands that call the user.
#[derive(Debug, Default)]
pub struct Attention {
    state: Mutex<State>,
    idle: Condvar,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Command>,
    running: bool,
    /// What was said about commands that failed.
    said: Vec<String>,
}

#[derive(Debug)]
struct Command {
    words: Words,
    program: String,
    arguments: Vec<String>,
    environment: Environment,
    followers: Arc<Followers>,
}

impl Attention {
    /// What calls the user for a drive with this configuration, in the environment of this moment.
    pub fn caller(
        self: &Arc<Self>,
        followers: &Arc<Followers>,
        config: &Config,
    ) -> Box<dyn Fn(UserCall) + Send + Sync> {
        let (attention, followers) = (self.clone(), followers.clone());
        let (command, environment) = (config.attention_command.clone(), environ::variables());
        Box::new(move |call| {
            if !followers.call_user(|| json!(call).to_string().into()) {
                let words = Words { root: call.root, title: call.title, body: call.body };
                attention.start(&followers, &command, environment.clone().into(), words);
            }
        })
    }

    /// Runs the command of this configuration. Does not wait for it.
    pub fn run(self: &Arc<Self>, followers: &Arc<Followers>, config: &Config, words: Words) {
        self.start(followers, &config.attention_command, Environment::current(), words);
    }

    fn start(
        self: &Arc<Self>,
        followers: &Arc<Followers>,
        command: &[String],
        environment: Environment,
        words: Words,
    ) {
        let Some((program, arguments)) = command.split_first() else { return };
        let arguments = arguments.iter().map(|argument| filled(argument, &words)).collect();
        let (program, followers) = (program.clone(), followers.clone());
        let mut state = locked(&self.state);
        if state.waiting.len() >= MAX_WAITING {
            state.waiting.pop_front();
        }
        state.waiting.push_back(Command { words, program, arguments, environment, followers });
        if !state.running {
            let attention = self.clone();
            let thread = std::thread::Builder::new().name("superpower-attention".into());
            state.running = thread.spawn(move || attention.work()).is_ok();
        }
    }

    /// Waits until no command runs.
    pub fn wait(&self, until: Instant) {
        let mut state = locked(&self.state);
        while state.running && Instant::now() < until {
            state = wait_until(&self.idle, state, until);
        }
    }

    fn work(&self) {
        while let Some(command) = self.next() {
            let Command { words, program, arguments, environment, followers } = command;
            let short = ShortProgram { environment: &environment, root: &words.root, limit: LIMIT };
            if let Err(why) = short.run(&program, &arguments)
                && self.is_new(&why)
            {
                let message = format!("attention_command: {why}");
                let notice =
                    json!({ "type": "notice", "root": words.root, "level": "warn", "message": message });
                followers.tell(notice.to_string().into());
            }
        }
    }

    fn next(&self) -> Option<Command> {
        let mut state = locked(&self.state);
        let next = state.waiting.pop_front();
        if next.is_none() {
            state.running = false;
            self.idle.notify_all();
        }
        next
    }

    /// Whether this fault was not said yet.
    fn is_new(&self, why: &str) -> bool {
        let mut state = locked(&self.state);
        let new = state.said.len() < MAX_FAULTS && !state.said.iter().any(|said| said == why);
        if new {
            state.said.push(why.to_owned());
        }
        new
    }
}

/// An argument with its placeholders filled, in one pass: a title that reads `{body}` stays as it is.
fn filled(argument: &str, words: &Words) -> String {
    let (mut out, mut rest) = (String::new(), argument);
    while let Some(at) = rest.find('{') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let known = [("{title}", &words.title), ("{body}", &words.body)];
        match known.into_iter().find(|(name, _)| rest.starts_with(name)) {
            Some((name, text)) => {
                out.extend(text.chars().map(inert));
                rest = &rest[name.len()..];
            }
            None => {
                out.push('{');
                rest = &rest[1..];
            }
        }
    }
    out + rest
}

/// A character that means nothing to what may read the argument as code or markup: notifications take HTML, and people
/// write a placeholder into AppleScript or a shell's quotes.
fn inert(letter: char) -> char {
    match letter {
        '"' => '”',
        '\'' => '’',
        '`' => '‵',
        '\\' => '⧵',
        '$' => '＄',
        '&' => '＆',
        '<' => '‹',
        '>' => '›',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(title: &str, body: &str) -> Words {
        Words { root: "/".into(), title: title.into(), body: body.into() }
    }

    #[test]
    fn placeholders_are_filled_once_whole_or_inside_an_argument() {
        let words = words("a {body}", "b {title}");
        for (argument, expected) in [
            ("{title}", "a {body}"),
            ("{body}", "b {title}"),
            ("-m={title}: {body}.", "-m=a {body}: b {title}."),
            ("{{title}}", "{a {body}}"),
            ("{titel} {", "{titel} {"),
            ("plain", "plain"),
        ] {
            assert_eq!(filled(argument, &words), expected);
        }
    }

    #[test]
    fn no_text_ends_a_quote_or_is_markup() {
        let hostile = words("x", "\"'; rm $(x) `y` \\ <a href=z>&amp;");
        assert_eq!(
            filled("display notification \"{body}\"", &hostile),
            "display notification \"”’; rm ＄(x) ‵y‵ ⧵ ‹a href=z›＆amp;\""
        );
    }
}
