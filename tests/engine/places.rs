//! Places that are poorer than a machine of one's own. Where the system does not let this user make one, its tests say so
//! and test nothing.

#![cfg(target_os = "linux")]

use std::ffi::OsStr;
use std::process::Command;

/// A place for a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// No other one.
    Here,
    /// `/proc` is empty.
    NoProc,
    /// It is the first process, of its own `/proc`.
    First,
    /// It may have so many descriptors.
    Descriptors(u32),
    /// Its user may have so many processes; the user is nobody.
    Processes(u32),
}

impl Place {
    /// The words before a command that is to run there.
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

/// The command in this place. None where there is no such place.
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
    // What it says there is no fault of the test's.
    put.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    Some(put)
}

/// Says that a test tests nothing here.
pub fn skipped(why: &str) {
    let _ = std::io::Write::write_all(&mut std::io::stderr(), format!("skipped: {why}\n").as_bytes());
}
