//! Standard output, for what was asked and for the log's lines, and standard error, for everything else: in whole lines.

use crate::text;
use serde_json::Value;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::process::ExitCode;

#[derive(Default)]
pub struct Output {
    /// Why standard output could not be written.
    lost: Option<io::Error>,
    /// Whether a lost line matters even to a reader that has gone: the log of a run.
    keeps: bool,
    /// What stands in the terminal's last line until something else is printed.
    live: String,
}

/// The width of a terminal that does not say its own.
const WIDTH: usize = 80;

impl Output {
    /// From now on every line matters.
    pub fn keep(&mut self) {
        self.keeps = true;
    }

    /// A line of the answer.
    pub fn line(&mut self, line: &str) {
        self.raw(format!("{line}\n").as_bytes());
    }

    /// An object of the answer, on one line.
    pub fn object(&mut self, value: &Value) {
        self.line(&text::json(value));
    }

    pub fn raw(&mut self, bytes: &[u8]) {
        self.live("");
        self.write(bytes);
    }

    /// Shows a text in the terminal's last line, instead of the one that stood there; where standard output is no
    /// terminal, nothing.
    pub fn live(&mut self, text: &str) {
        if self.live == text
            || !io::stdout().is_terminal()
            || std::env::var_os("TERM").is_none_or(|it| it == "dumb")
        {
            return;
        }
        text.clone_into(&mut self.live);
        let columns = rustix::termios::tcgetwinsize(io::stdout()).map_or(0, |size| usize::from(size.ws_col));
        let columns = if columns == 0 { WIDTH } else { columns };
        self.write(format!("\r\x1b[K{}", text::fit(text, columns - 1)).as_bytes());
    }

    fn write(&mut self, bytes: &[u8]) {
        let mut out = io::stdout().lock();
        if let Err(error) = out.write_all(bytes).and_then(|()| out.flush()) {
            self.lost.get_or_insert(error);
        }
    }

    /// What is said beside the answer.
    pub fn say(&mut self, words: &str) {
        self.said(&format!("superpower: {}\n", text::lines(&text::hints(words)).join("\n")));
    }

    /// The same as it is.
    pub fn said(&mut self, words: &str) {
        self.live("");
        // Where nobody can be told, nobody is.
        let _ = io::stderr().lock().write_all(words.as_bytes());
    }

    /// The program's exit status: lost lines are a failure, unless the reader has seen enough.
    pub fn status(mut self, status: u8) -> ExitCode {
        self.live("");
        match self.lost.take() {
            Some(error) if self.keeps || error.kind() != ErrorKind::BrokenPipe => {
                self.say(&format!("lines were lost: standard output cannot be written: {error}"));
                ExitCode::from(1)
            }
            _ => ExitCode::from(status),
        }
    }
}
