//! Restricted environments for a process, such as one without `/proc`. If the system does not let this user create one, its
//! tests say so and check nothing.

#![cfg(target_os = "linux")]

use std::ffi::OsStr;
use std::process::Command;

/// A restricted environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// No restriction.
    Here,
    /// `/proc` is empty.
    NoProc,
    /// The process has id 1 in a namespace with its own `/proc`.
    First,
    /// A limit of open descriptors.
    Descriptors(u32),
    /// A limit of processes for its user, who is `nobody`.
    Processes(u32),
}

impl Place {
    /// The words to put before a command to run it there.
    fn before(self) -> Vec<String> {
        let words: &[&str] = match self {
            Self::Here => &["env"],
            Self::NoProc => &[
                "unshare",
                "-m",
                "--propagation",
                "private",
                "sh",
                "-c",
                "mount -t tmpfs none /proc && exec \"$@\"",
                "-",
            ],
            Self::First => &["unshare", "-p", "-f", "--kill-child", "--mount-proc"],
            Self::Descriptors(most) => return vec!["prlimit".into(), format!("--nofile={most}:{most}")],
            Self::Processes(most) => {
                let words = ["setpriv", "--reuid=65534", "--clear-groups", "prlimit"].map(String::from);
                return [&words[..], &[format!("--nproc={most}:{most}")]].concat();
            }
        };
        words.iter().map(|&word| word.to_owned()).collect()
    }
}

/// The command in this environment; `None` if it cannot be created.
pub fn in_place(place: Place, command: &Command) -> Option<Command> {
    let before = place.before();
    let put = |program: &OsStr| {
        let mut put = Command::new(&before[0]);
        put.args(&before[1..]).arg(program);
        put
    };
    if !put(OsStr::new("true")).status().is_ok_and(|status| status.success()) {
        skipped(&format!("this user cannot make the place {place:?}"));
        return None;
    }
    let mut put = put(command.get_program());
    put.args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => put.env(name, value),
            None => put.env_remove(name),
        };
    }
    // Its error output is not the test's.
    put.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    Some(put)
}

/// Prints that a test checks nothing here.
pub fn skipped(why: &str) {
    let _ = std::io::Write::write_all(&mut std::io::stderr(), format!("skipped: {why}\n").as_bytes());
}
