//! Between a launch and the driver: what it is told, and where its signals go.

use super::signal::{Answer, Progress, Signal};
use crate::process::{Leader, Masker, Secrets};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// The longest line that is read whole.
pub(super) const LINE: usize = 8 << 20;

/// What the driver tells a launch.
#[derive(Debug)]
pub enum Order {
    /// Stop politely.
    Stop,
    /// TERM at once, KILL after this.
    Kill(Duration),
    /// An answer to a question.
    Answer(String, Answer),
    /// The result that a human hands in.
    Submit(String),
}

#[derive(Debug, Default)]
pub(super) struct Over {
    pub state: Mutex<State>,
    pub told: Condvar,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub over: bool,
    pub leader: Option<Arc<Leader>>,
}

/// Where signals go, with every secret masked.
pub struct Sink {
    pub(super) sink: Box<dyn Fn(Signal) + Send + Sync>,
    pub(super) secrets: Secrets,
    /// Of the text, which comes in pieces: a secret may be in two of them.
    pub(super) masker: Masker,
    pub(super) over: Arc<Over>,
}

impl Sink {
    /// Tells one signal.
    pub fn tell(&mut self, signal: Signal) {
        if self.secrets.is_empty() {
            return (self.sink)(signal);
        }
        if let Signal::Progress(Progress::Text { text }) = signal {
            let shown = self.masker.push(text.as_bytes()).into_owned();
            return self.shown(&shown);
        }
        let rest = self.masker.finish();
        self.shown(&rest);
        (self.sink)(self.masked(signal));
    }

    /// What it masks.
    pub fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    fn shown(&self, text: &[u8]) {
        // What is held back begins as a secret does, which is text: it begins and ends with whole characters.
        if !text.is_empty() {
            (self.sink)(Signal::Progress(Progress::Text {
                text: String::from_utf8_lossy(text).into_owned(),
            }));
        }
    }

    /// Tells several, with pieces of text that follow each other joined: a flood costs few calls.
    pub fn all(&mut self, signals: Vec<Signal>) {
        let mut text = String::new();
        for signal in signals {
            match signal {
                Signal::Progress(Progress::Text { text: piece }) => text.push_str(&piece),
                other => {
                    self.text(&mut text);
                    self.tell(other);
                }
            }
        }
        self.text(&mut text);
    }

    fn text(&mut self, text: &mut String) {
        if !text.is_empty() {
            self.tell(Signal::Progress(Progress::Text { text: std::mem::take(text) }));
        }
    }

    fn masked(&self, signal: Signal) -> Signal {
        match signal {
            Signal::Progress(mut progress) => {
                progress.texts(&mut |text| *text = self.secrets.mask(text).into_owned());
                Signal::Progress(progress)
            }
            Signal::Asked(mut question) => {
                question.title = self.secrets.mask(&question.title).into_owned();
                self.secrets.mask_all(&mut question.input);
                Signal::Asked(question)
            }
            Signal::Ended(ending) => Signal::Ended(ending.masked(&self.secrets)),
            other => other,
        }
    }
}
