//! A program of the user's own that is no agent, such as one that shows a notification. It gets the user's environment
//! without our marks, its output is dropped, and it ends within a time limit.

use super::group::Group;
use super::program::Places;
use super::spawn::retry_while_busy;
use super::thread::named;
use super::{Environment, Exit, Mark, find_program, guard_client, identity};
use rustix::process::Signal;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// A program that is soon over.
pub struct ShortProgram<'a> {
    pub environment: &'a Environment,
    /// The project, below which no program is looked for.
    pub root: &'a Path,
    pub limit: Duration,
}

impl ShortProgram<'_> {
    /// Runs it to its end; the error is for people.
    pub fn run(&self, program: &str, arguments: &[String]) -> Result<(), String> {
        let found = find_program(program, self.environment, Some(self.root))
            .map_err(|missing| format!("\"{program}\" was not found{missing}"))?;
        // It is not in the project: a relative name that it looks for must not be found there.
        let directory = Path::new("/");
        let mut variables = self.environment.without_ours(directory);
        variables.insert("PATH".into(), Places::of(self.environment, Some(self.root)).path());
        let mut command = Command::new(found);
        command.args(arguments).current_dir(directory).env_clear().envs(variables).process_group(0);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        match self.finish(&mut command) {
            Ok(Some(Exit::Code(0))) => Ok(()),
            Ok(Some(Exit::Code(code))) => Err(format!("\"{program}\" exited with status {code}")),
            Ok(Some(_)) => Err(format!("\"{program}\" was killed")),
            Ok(None) => {
                Err(format!("\"{program}\" took longer than {}s, and was ended", self.limit.as_secs()))
            }
            Err(error) => Err(format!("\"{program}\" did not start: {error}")),
        }
    }

    /// Starts it and waits for its end; `None` if it had to be ended.
    fn finish(&self, command: &mut Command) -> io::Result<Option<Exit>> {
        // The guard ends it if this process is killed.
        let mark = Mark { run_id: format!("attention-{}", std::process::id()), stage: 0, launch: 0 };
        let mut guarded = guard_client::announce(&mark);
        let child = retry_while_busy(|| command.spawn())?;
        let pid = child.id();
        guarded.started(&identity::record(pid).unwrap_or_else(|| identity::at(pid, 0)));
        let group = Arc::new(Group::new(child, guarded));
        let (exited, exit) = channel();
        let waiting = group.clone();
        let waits = named("short", move || {
            waiting.wait();
            let _ = exited.send(());
        });
        // Without the thread nobody would see the limit.
        let late = waits.is_err() || exit.recv_timeout(self.limit) == Err(RecvTimeoutError::Timeout);
        if late {
            group.signal(Signal::KILL);
        }
        let status = group.reap();
        waits?;
        Ok((!late).then_some(status))
    }
}
