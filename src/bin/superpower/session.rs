//! What a verb works with: the engine, the two outputs, and the project that it is about.

use crate::door::Door;
use crate::output::Output;
use crate::refused::Refused;
use crate::settings::{self, Drives};
use crate::signals::Signals;
use clap::ArgMatches;
use serde_json::{Value, json};
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

pub struct Session {
    pub door: Door,
    pub out: Output,
    pub signals: Signals,
    /// Whether answers are objects, and what takes time is told as one object a line.
    pub json: bool,
    /// Whether a verb that drives returns when its run has started.
    pub detach: bool,
    /// Whether the configuration is an editor's, which has started this program.
    editor: bool,
    /// The folder of `--root`.
    given: Option<PathBuf>,
    started: bool,
}

impl Session {
    pub fn begin(matches: &ArgMatches) -> io::Result<Self> {
        Ok(Self {
            signals: Signals::catch()?,
            door: Door::open()?,
            out: Output::default(),
            json: matches.get_flag("json"),
            detach: false,
            editor: matches.get_flag("editor"),
            given: matches.get_one::<PathBuf>("root").cloned(),
            started: false,
        })
    }

    /// The project's root, for which the engine is configured: the given folder, or that of the working directory.
    pub fn root(&mut self) -> Result<PathBuf, Refused> {
        let root = self.find(None)?;
        self.configure(Some(&root))?;
        Ok(root)
    }

    /// The root of the project that a file belongs to.
    pub fn find(&self, file: Option<&Path>) -> Result<PathBuf, Refused> {
        if let Some(given) = &self.given {
            let real = given.canonicalize().and_then(|real| match real.is_dir() {
                true => Ok(real),
                false => Err(io::ErrorKind::NotADirectory.into()),
            });
            return real.map_err(|error| {
                Refused::usage(format!("cannot use \"{}\" as the project's root: {error}", given.display()))
            });
        }
        let cwd = std::env::current_dir()
            .map_err(|error| Refused::usage(format!("cannot tell the working directory: {error}")))?;
        let found =
            self.door.call("project", &json!({ "cwd": utf8(&cwd)?, "file": file.map(utf8).transpose()? }))?;
        Ok(PathBuf::from(found["root"].as_str().unwrap_or_default()))
    }

    /// The same for what is about the project's driver, whatever the configuration says of who drives.
    pub fn root_of_driver(&mut self) -> Result<PathBuf, Refused> {
        let root = self.find(None)?;
        settings::configure(&self.door, Some(&root), Drives::Process)?;
        self.started = true;
        Ok(root)
    }

    /// Gives the engine its configuration, once.
    pub fn configure(&mut self, root: Option<&Path>) -> Result<(), Refused> {
        if !std::mem::replace(&mut self.started, true) {
            return match self.editor {
                true => settings::configure_as_editor(&self.door),
                false => settings::configure(&self.door, root, Drives::AsConfigured),
            };
        }
        Ok(())
    }

    /// Asks the engine about the project.
    pub fn ask(&mut self, op: &str, mut fields: Value) -> Result<Value, Refused> {
        fields["root"] = json!(utf8(&self.root()?)?);
        self.door.call(op, &fields)
    }

    /// Whether somebody sits at a terminal who can be asked.
    pub fn is_attended(&self) -> bool {
        !self.json && io::stdin().is_terminal() && io::stderr().is_terminal()
    }

    /// The answer to a question: an object, or lines for people.
    pub fn show(&mut self, value: &Value, lines: impl FnOnce(&Value) -> Vec<String>) {
        if self.json {
            return self.out.object(value);
        }
        lines(value).iter().for_each(|line| self.out.line(line));
    }

    /// Says what the engine has noted meanwhile, beside what was asked for.
    pub fn notices(&mut self) {
        while let Some(event) = self.door.next_event(Duration::ZERO, None) {
            if event["type"] == "notice" && !self.json {
                self.out.say(event["message"].as_str().unwrap_or_default());
            }
        }
    }

    /// Says why a verb was refused, and returns its exit status.
    pub fn refuse(&mut self, verb: &str, refused: &Refused) -> u8 {
        self.notices();
        if self.json {
            self.out.object(&refused.json());
        } else {
            self.out.say(&refused.text());
        }
        refused.status(verb)
    }

    /// Stops the engine, which tries once more to write what it could not write.
    pub fn end(mut self, status: u8) -> ExitCode {
        let stopped = self.door.stop();
        self.notices();
        let Self { mut out, .. } = self;
        match stopped {
            Ok(stopped) => {
                let unwritten = stopped["unwritten"].as_array().into_iter().flatten();
                unwritten.filter_map(Value::as_str).for_each(|line| out.say(line));
                out.status(status)
            }
            Err(refused) => {
                out.say(&refused.text());
                out.status(1)
            }
        }
    }
}

/// A path as the engine takes it.
pub fn utf8(path: &Path) -> Result<&str, Refused> {
    path.to_str().ok_or_else(|| Refused::usage(format!("the path is not UTF-8: {}", path.display())))
}
