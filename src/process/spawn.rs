//! Starts a process, and the threads that read, write and wait for it.

use super::group::Group;
use super::inbox_item::{Item, Stream};
#[cfg(target_os = "linux")]
use super::launcher_client::launch;
use super::leader::Hold;
use super::output::{Output, Writer};
use super::pipe::Pipe;
use super::spec::{Spec, Stdin};
use super::supervise::Started;
use super::thread::named;
use super::{Environment, Inbox, Leader, Process, Secrets, guard_client, identity};
use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, Stdio};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

/// How long to wait before trying again when the system is short of a resource.
const RETRY_DELAY: Duration = Duration::from_millis(10);

/// Starts a process: through the launcher on Linux, and as [`spawn_in_group`] does on other systems. [`Process::next`]
/// returns what it prints, and what others put into `inbox`.
pub fn spawn<T: Send + 'static>(
    spec: Spec,
    environment: &Environment,
    secrets: &Secrets,
    inbox: Arc<Inbox<Item<T>>>,
) -> io::Result<Process<T>> {
    start(spec, environment, secrets, inbox, cfg!(target_os = "linux"))
}

/// Starts a process as a child of this one, for systems where no process can adopt its orphans. Its descendants are found
/// by group, parent and the run's mark.
pub fn spawn_in_group<T: Send + 'static>(
    spec: Spec,
    environment: &Environment,
    secrets: &Secrets,
    inbox: Arc<Inbox<Item<T>>>,
) -> io::Result<Process<T>> {
    start(spec, environment, secrets, inbox, false)
}

fn start<T: Send + 'static>(
    spec: Spec,
    environment: &Environment,
    secrets: &Secrets,
    inbox: Arc<Inbox<Item<T>>>,
    launched: bool,
) -> io::Result<Process<T>> {
    inbox.open();
    let output = Output::open(&spec.door, &spec.log, spec.max_output, secrets.clone())?;
    let (quitting, quit) = io::pipe()?;
    let (theirs, stdin, stdout, stderr) = streams()?;
    let begin = if launched { by_launcher } else { as_child };
    let leader = Arc::new(retry_while_busy(|| begin(&spec, environment, &theirs))?);
    drop(theirs);
    let (sender, receiver) = mpsc::channel::<Vec<u8>>();
    let duplexed = spec.stdin == Stdin::Duplex;
    let duplex = duplexed.then(|| sender.clone());
    let streams = [(Stream::Stdout, stdout), (Stream::Stderr, stderr)];
    let streams = streams.map(|(stream, end)| (stream, end, output.writer(stream)));
    let parts = Started {
        leader: leader.clone(),
        inbox: inbox.clone(),
        quit,
        output,
        stdin: duplex,
        open: streams.len() as u8,
    };
    let process = Process::new(parts, &spec);
    let mut sources = Vec::new();
    for (stream, end, writer) in streams {
        sources.push(Source { stream, pipe: Pipe::new(end.into(), quitting.try_clone()?)?, writer });
    }
    let mut pipe = Pipe::new(stdin.into(), quitting)?;
    let rest = match spec.stdin {
        // Input that fits into the pipe needs no thread.
        Stdin::Once(bytes) => pipe.fill(&bytes).map(|written| bytes[written..].to_vec()),
        Stdin::Duplex => None,
    };
    if duplexed || rest.as_ref().is_some_and(|rest| !rest.is_empty()) {
        named("stdin", move || {
            for bytes in rest.into_iter().chain(receiver) {
                if pipe.write_all(&bytes).is_err() {
                    break;
                }
            }
        })?;
    }
    drop(sender);
    watch(leader, sources, inbox)?;
    Ok(process)
}

/// A stream of the process, and the writer that saves it.
struct Source {
    stream: Stream,
    pipe: Pipe,
    writer: Writer,
}

impl Source {
    /// Passes the available output to the output file and the inbox. Returns `false` at the end of the stream.
    fn pump<T>(&mut self, buffer: &mut [u8], pid: u32, inbox: &Inbox<Item<T>>) -> bool {
        let is_open = match self.pipe.read(buffer) {
            Ok(None) => true,
            Ok(Some(n @ 1..)) => {
                self.writer.push(&buffer[..n]);
                inbox.data(Item::Chunk(pid, self.stream, buffer[..n].to_vec()))
            }
            Ok(Some(0)) | Err(_) => false,
        };
        if !is_open {
            self.writer.finish();
        }
        is_open
    }
}

/// Starts the thread that reads the streams and waits for the exit.
fn watch<T: Send + 'static>(
    leader: Arc<Leader>,
    mut sources: Vec<Source>,
    inbox: Arc<Inbox<Item<T>>>,
) -> io::Result<()> {
    let pid = leader.record.pid;
    let mut exit_fd = leader.exit_fd();
    if exit_fd.is_none() {
        let (leader, inbox) = (leader.clone(), inbox.clone());
        named("wait", move || {
            leader.wait();
            inbox.order(Item::Exited(pid));
        })?;
    }
    named("watch", move || {
        let mut buffer = vec![0; 64 * 1024];
        while !sources.is_empty() || exit_fd.is_some() {
            let pipes = sources.iter().map(|source| &source.pipe);
            let Ok(ready) = Pipe::wait_to_read(pipes, exit_fd.as_ref()) else {
                // The system is out of memory. Trying again without a delay would also use a whole core.
                thread::sleep(RETRY_DELAY);
                continue;
            };
            sources.retain_mut(|source| {
                let pump = AssertUnwindSafe(|| source.pump(&mut buffer, pid, &inbox));
                let is_open = catch_unwind(pump).unwrap_or(false);
                if !is_open {
                    inbox.data(Item::End(pid));
                }
                is_open
            });
            if ready && leader.has_exited() {
                exit_fd = None;
                inbox.order(Item::Exited(pid));
            }
        }
    })
}

/// The pipes of a process: its three ends, then ours for input, output and errors.
fn streams() -> io::Result<([OwnedFd; 3], PipeWriter, PipeReader, PipeReader)> {
    let ((stdin, input), (output, stdout), (errors, stderr)) = (io::pipe()?, io::pipe()?, io::pipe()?);
    Ok(([stdin.into(), stdout.into(), stderr.into()], input, output, errors))
}

/// Starts the program through the launcher.
#[cfg(target_os = "linux")]
fn by_launcher(spec: &Spec, environment: &Environment, streams: &[OwnedFd; 3]) -> io::Result<Leader> {
    let init = launch(spec, environment, streams)?;
    let record = identity::at(init.pid, init.start_time);
    Ok(Leader::new(record, spec.mark.clone(), Hold::Init(init)))
}

#[cfg(not(target_os = "linux"))]
fn by_launcher(_: &Spec, _: &Environment, _: &[OwnedFd; 3]) -> io::Result<Leader> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Starts the program as a child of this process.
fn as_child(spec: &Spec, environment: &Environment, streams: &[OwnedFd; 3]) -> io::Result<Leader> {
    let mut command = Command::new(&spec.program);
    command.args(&spec.args).current_dir(&spec.root).process_group(0);
    command.env_clear().envs(environment.for_child(&spec.mark, &spec.root)).envs(spec.env.iter().cloned());
    let [stdin, stdout, stderr] = streams;
    command.stdin(Stdio::from(stdin.try_clone()?));
    command.stdout(Stdio::from(stdout.try_clone()?)).stderr(Stdio::from(stderr.try_clone()?));
    let mut guarded = guard_client::announce(&spec.mark);
    let child = command.spawn()?;
    let pid = child.id();
    let record = identity::record(pid).unwrap_or_else(|| identity::at(pid, 0));
    guarded.started(&record);
    Ok(Leader::new(record, spec.mark.clone(), Hold::Group(Group::new(child, guarded))))
}

/// Starts a program. The system refuses one that another process is still writing, so this is tried again.
pub(super) fn retry_while_busy<T>(mut start: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    for _ in 0..20 {
        match start() {
            Err(e) if e.kind() == io::ErrorKind::ExecutableFileBusy => thread::sleep(RETRY_DELAY),
            done => return done,
        }
    }
    start()
}
