//! The program `superpower`, in projects of their own and as a shell starts it.

mod attached;
mod checks;
mod configured;
mod driven;
mod interrupted;
mod json;
mod manual;
mod questions;
mod trusted;
mod verbs;

use crate::world::World;
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const SMALL: &str = "inputs:
  - {name: epic, required: true}
  - {name: scope, type: enum, enum: [full, part]}
stages:
  - {agent: writer, description: 'Work on {{epic}}'}
  - {gate: human-approval, description: Is it right}
  - {agent: printer, description: More work}
";

/// A project, and whoever uses the program in it.
struct Shell {
    world: World,
    home: tempfile::TempDir,
}

/// What a verb printed, and its exit status.
#[derive(Debug)]
struct Done {
    out: String,
    err: String,
    status: i32,
}

impl Shell {
    /// A project with the superpower `small`, whose agents are the world's script, and which is trusted.
    fn new() -> Self {
        let shell = Self { world: World::new(), home: tempfile::tempdir().unwrap() };
        shell.world.declare("small", SMALL);
        shell.configure(json!({ "trust": "always" }));
        shell
    }

    /// Writes `config.json`: the world's agent, and what is given besides.
    fn configure(&self, more: Value) {
        let agent = self.world.path("bin/agent");
        let mut config = json!({
            "harness": "command", "timeout": "1m", "harnesses": { "command": { "cmd": [agent, "{agent}{skill}"] } },
        });
        config.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.write_config(&format!("// mine\n{config:#}"));
    }

    fn write_config(&self, text: &str) {
        let folder = self.home.path().join("config/superpower");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("config.json"), text).unwrap();
    }

    fn command(&self, words: &[impl AsRef<OsStr>]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_superpower"));
        command.args(words).current_dir(self.world.root()).stdin(Stdio::null());
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).env("USER", "ann");
        command.env("HOME", self.home.path()).env("XDG_CONFIG_HOME", self.home.path().join("config"));
        command.env("XDG_RUNTIME_DIR", self.home.path());
        command.env("XDG_STATE_HOME", self.world.state_dir().parent().unwrap());
        command
    }

    fn run(&self, words: &[&str]) -> Done {
        Done::of(self.command(words).output().unwrap())
    }

    /// The same, which must end so.
    fn expect(&self, status: i32, words: &[&str]) -> Done {
        let done = self.run(words);
        assert_eq!(done.status, status, "{words:?}: {done:#?}");
        done
    }

    /// The object that a question is answered with.
    fn ask(&self, words: &[&str]) -> Value {
        let done = self.expect(0, &[&["--json"], words].concat());
        assert_eq!(done.err, "");
        assert_eq!(done.out.lines().count(), 1, "{}", done.out);
        serde_json::from_str(&done.out).unwrap()
    }

    fn path(&self) -> &Path {
        self.home.path()
    }
}

impl Done {
    fn of(output: Output) -> Self {
        Self {
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
            status: output.status.code().expect("an exit status"),
        }
    }

    /// Standard error without the list of changes that a pause at a gate prints.
    fn beside_list(&self) -> Vec<&str> {
        let lines = self.err.lines();
        lines.filter(|line| !line.contains("(review=") && !line.starts_with("superpower:   ")).collect()
    }
}
