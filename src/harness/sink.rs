//! The connection between a launch and the driver: orders in, signals out.

use super::signal::{Answer, Progress, Signal};
use crate::process::{Leader, Masker, Secrets};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// Maximum length of a line that is read, in bytes.
pub(super) const LINE: usize = 8 << 20;

/// An order from the driver.
#[derive(Debug)]
pub enum Order {
    Stop,
    /// SIGTERM at once, SIGKILL after this time.
    Kill(Duration),
    Answer(String, Answer),
    /// The result of a manual stage.
    Submit(String),
}

#[derive(Debug, Default)]
pub(super) struct EndState {
    pub state: Mutex<State>,
    pub ended: Condvar,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub over: bool,
    pub leader: Option<Arc<Leader>>,
}

/// Sends signals to the driver, with all secrets masked.
pub struct Sink {
    pub(super) sink: Box<dyn Fn(Signal) + Send + Sync>,
    pub(super) secrets: Secrets,
    /// Masks streamed text, in which a secret may be split between two pieces.
    pub(super) masker: Masker,
    pub(super) over: Arc<EndState>,
}

impl Sink {
    pub fn send(&mut self, signal: Signal) {
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

    pub fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    fn shown(&self, text: &[u8]) {
        // Held back text starts like a secret, so it starts and ends with whole characters.
        if !text.is_empty() {
            (self.sink)(Signal::Progress(Progress::Text {
                text: String::from_utf8_lossy(text).into_owned(),
            }));
        }
    }

    /// Sends several signals and joins consecutive pieces of text, so that a flood needs few calls.
    pub fn all(&mut self, signals: Vec<Signal>) {
        let mut text = String::new();
        for signal in signals {
            match signal {
                Signal::Progress(Progress::Text { text: piece }) => text.push_str(&piece),
                other => {
                    self.text(&mut text);
                    self.send(other);
                }
            }
        }
        self.text(&mut text);
    }

    fn text(&mut self, text: &mut String) {
        if !text.is_empty() {
            self.send(Signal::Progress(Progress::Text { text: std::mem::take(text) }));
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
