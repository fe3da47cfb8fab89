//! A harness that plays a test's script and starts no process.

use super::end_text::failed;
use super::resolve::{Harnesses, Settings};
use super::script::{Script, Step};
use super::sink::{Order, Sink};
use super::{Answer, Ending, Launch, Signal};
use crate::outcome::{Outcome, Usage};
use crate::process::{Inbox, Item};
use std::sync::Arc;
use std::time::Instant;

/// Harnesses with one named `fake`, which plays `script`'s steps for each launch.
pub fn fake(script: impl Fn(&Launch) -> Vec<Step> + Send + Sync + 'static) -> Harnesses {
    let mut harnesses = Harnesses { script: Some(Script(Arc::new(script))), ..Harnesses::default() };
    harnesses.named.insert("fake".to_owned(), Settings::default());
    harnesses
}

/// Plays the steps; a script without an end passes with the message `done`.
pub(super) fn play(steps: Vec<Step>, inbox: &Inbox<Item<Order>>, sink: &mut Sink) -> Ending {
    sink.send(Signal::Started(None));
    let ended =
        |outcome, message| Ending { outcome, message, usage: Usage::default(), ..failed(String::new()) };
    for step in steps {
        let (until, asked) = match step {
            Step::Tell(signal) => {
                sink.send(signal);
                (Some(Instant::now()), None)
            }
            Step::Sleep(duration) => (Some(Instant::now() + duration), None),
            Step::Hang => (None, None),
            Step::Ask(question) => {
                let id = question.id.clone();
                sink.send(Signal::Asked(question));
                (None, Some(id))
            }
            Step::Panic => panic!("the script says so"),
            Step::End(outcome, message) => return ended(outcome, message),
        };
        loop {
            match inbox.next(until) {
                None => break,
                Some(Item::Order(Order::Stop | Order::Kill(_))) => return failed("stopped".to_owned()),
                Some(Item::Order(Order::Answer(id, answer))) if asked.as_ref() == Some(&id) => match answer {
                    Answer::Once | Answer::Run | Answer::Rule => break,
                    Answer::Deny { reason } | Answer::Refuse { why: reason } => {
                        return ended(
                            Outcome::NeedsHuman { question: format!("denied: {reason}") },
                            String::new(),
                        );
                    }
                },
                Some(_) => {}
            }
        }
    }
    ended(Outcome::Passed, "done".to_owned())
}
