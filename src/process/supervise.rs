//! A process from its start to the end of the last that descends from it.

use super::guard::{self, Guarded};
use super::leader::reaped;
use super::output::Output;
use super::pipe::Pipe;
use super::{Environment, Inbox, READ_AFTER_EXIT, Secrets, Spec};
use crate::outcome::ProcessRecord;
use std::io;
use std::os::unix::process::CommandExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

pub use super::leader::{Exit, Leader};

/// What a process's standard input is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stdin {
    /// This, and then its end.
    Once(Vec<u8>),
    /// What [`Process::write`] gives, until [`Process::close_stdin`].
    Duplex,
}

/// Which of the two streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// Which limit was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The wall clock.
    Wall(Duration),
    /// Silence.
    Idle(Duration),
}

/// What threads put into a process's inbox; `T` is what its owner is told by others.
#[derive(Debug)]
pub enum Item<T> {
    /// Output.
    Chunk(Stream, Vec<u8>),
    /// A stream's end.
    End(Stream),
    /// The leader is dead, and not yet reaped.
    Exited,
    /// Something for the owner.
    Order(T),
}

/// What a process's owner gets to see.
#[derive(Debug)]
pub enum Event<T> {
    /// Output, as it came.
    Chunk(Stream, Vec<u8>),
    /// Something that others told.
    Order(T),
    /// A limit is reached: told once. It is the owner's part to stop the process.
    Limit(Limit),
    /// The time to wake has come.
    Wake,
    /// It is dead, as is all that it started, and all its output was seen. Nothing follows.
    Over(Exit),
}

/// The threads' names begin so, for whoever looks at the editor's threads.
const THREAD: &str = "superpower";
/// How often the descendants are looked up, so that one which cuts itself loose is known.
const LOOK: Duration = Duration::from_secs(2);
/// A process that KILL does not end within this is in the kernel's hands.
const STUCK: Duration = Duration::from_secs(3);

/// A running process.
#[derive(Debug)]
pub struct Process<T> {
    child: Option<Child>,
    /// Dropped after all of it is ended.
    _guarded: Guarded,
    leader: Arc<Leader>,
    inbox: Arc<Inbox<Item<T>>>,
    stdin: Option<mpsc::Sender<Vec<u8>>>,
    quit: Option<io::PipeWriter>,
    output: Output,
    open: u8,
    timeout: Option<(Instant, Duration)>,
    idle: Option<Duration>,
    noise: Instant,
    busy: bool,
    look: Instant,
    ladder: Ladder,
    exited: Option<Instant>,
    ended: bool,
}

/// How far the stopping has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ladder {
    Not,
    Term(Instant),
    Kill(Instant),
    Killed(Instant),
}

/// Starts a process. Everything it prints, and what others put into `inbox`, comes out of [`Process::next`].
pub fn spawn<T: Send + 'static>(
    spec: Spec,
    environment: &Environment,
    secrets: &Secrets,
    inbox: Arc<Inbox<Item<T>>>,
) -> io::Result<Process<T>> {
    inbox.open();
    let output = Output::open(&spec.log, spec.max_output, secrets.clone())?;
    let mut command = Command::new(&spec.program);
    command.args(&spec.args).current_dir(&spec.root).process_group(0);
    command.env_clear().envs(environment.for_child(&spec.mark, &spec.root)).envs(spec.env.iter().cloned());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let (quitting, quit) = io::pipe()?;
    let mut guarded = guard::announce(&spec.mark);
    let mut child = start(&mut command)?;
    let leader = Arc::new(Leader::new(child.id(), spec.mark.clone()));
    guarded.started(&leader.record);
    // From here on, whatever fails, dropping the process ends what was started.
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let now = Instant::now();
    let mut process = Process {
        child: Some(child),
        _guarded: guarded,
        leader: leader.clone(),
        inbox: inbox.clone(),
        stdin: None,
        quit: Some(quit),
        output,
        open: 0,
        timeout: spec.timeout.and_then(|limit| Some((now.checked_add(limit)?, limit))),
        idle: spec.idle,
        noise: now,
        busy: false,
        look: now + LOOK,
        ladder: Ladder::Not,
        exited: None,
        ended: false,
    };
    if let Some(end) = stdout {
        process.pump(Stream::Stdout, Pipe::new(end.into(), quitting.try_clone()?)?)?;
    }
    if let Some(end) = stderr {
        process.pump(Stream::Stderr, Pipe::new(end.into(), quitting.try_clone()?)?)?;
    }
    if let Some(end) = stdin {
        let mut pipe = Pipe::new(end.into(), quitting)?;
        let (sender, receiver) = mpsc::channel::<Vec<u8>>();
        named("stdin", move || {
            for bytes in receiver {
                if pipe.write_all(&bytes).is_err() {
                    break;
                }
            }
        })?;
        if let Stdin::Once(bytes) = spec.stdin {
            let _ = sender.send(bytes);
        } else {
            process.stdin = Some(sender);
        }
    }
    named("wait", move || {
        leader.wait();
        inbox.order(Item::Exited);
    })?;
    Ok(process)
}

/// Starts the command; one that another process has just written may be busy for a moment.
fn start(command: &mut Command) -> io::Result<Child> {
    for _ in 0..20 {
        match command.spawn() {
            Err(e) if e.raw_os_error() == Some(libc::ETXTBSY) => thread::sleep(Duration::from_millis(10)),
            done => return done,
        }
    }
    command.spawn()
}

fn named(what: &str, body: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let body = || drop(catch_unwind(AssertUnwindSafe(body)));
    thread::Builder::new().name(format!("{THREAD}-{what}")).spawn(body).map(drop)
}

impl<T: Send + 'static> Process<T> {
    /// The process itself, for those who must be able to end it from elsewhere.
    pub fn leader(&self) -> Arc<Leader> {
        self.leader.clone()
    }

    /// Its record, for the journal.
    pub fn record(&self) -> ProcessRecord {
        self.leader.record.clone()
    }

    /// Writes to a duplex process. Never waits.
    pub fn write(&self, bytes: Vec<u8>) {
        if let Some(stdin) = &self.stdin {
            let _ = stdin.send(bytes);
        }
    }

    /// Ends a duplex process's input, once all is written.
    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Whether something is known to be under way, so that silence is no sign.
    pub const fn set_busy(&mut self, busy: bool) {
        self.busy = busy;
    }

    /// Whether it is being stopped.
    pub fn stopping(&self) -> bool {
        self.ladder != Ladder::Not
    }

    /// Which signal it took, where it was stopped and its own way was not enough.
    pub const fn took(&self) -> Option<&'static str> {
        match self.ladder {
            Ladder::Not | Ladder::Term(_) => None,
            Ladder::Kill(_) => Some("TERM"),
            Ladder::Killed(_) => Some("KILL"),
        }
    }

    /// Begins to stop it: TERM to its group after `polite`, KILL after `term` more. Later calls only shorten this.
    pub fn stop(&mut self, polite: Duration, term: Duration) {
        let now = Instant::now();
        self.leader.look();
        self.ladder = match self.ladder {
            Ladder::Not => Ladder::Term(now + polite),
            Ladder::Term(at) => Ladder::Term(at.min(now + polite)),
            Ladder::Kill(at) => Ladder::Kill(at.min(now + term)),
            killed => killed,
        };
        self.leader.set_term(term);
    }

    /// Waits for the next event, or until `wake`.
    pub fn next(&mut self, wake: Option<Instant>) -> Event<T> {
        loop {
            let now = Instant::now();
            if self.busy {
                self.noise = now;
            }
            if let Some(event) = self.due(now) {
                return event;
            }
            if wake.is_some_and(|wake| wake <= now) {
                return Event::Wake;
            }
            let until = [Some(self.deadline()), wake].into_iter().flatten().min();
            match self.inbox.next(until) {
                None => {}
                Some(Item::Chunk(stream, chunk)) => {
                    self.noise = Instant::now();
                    return Event::Chunk(stream, chunk);
                }
                Some(Item::End(_)) => self.open = self.open.saturating_sub(1),
                Some(Item::Exited) => self.exited = Some(Instant::now()),
                Some(Item::Order(order)) => return Event::Order(order),
            }
        }
    }

    /// Does what is due, and says what the owner must know.
    fn due(&mut self, now: Instant) -> Option<Event<T>> {
        if let Some(at) = self.exited {
            // While it is stopped, nobody waits for the output of what outlived it.
            if !self.ended && (self.open == 0 || self.stopping() || now >= at + READ_AFTER_EXIT) {
                self.ended = true;
                self.leader.end_rest();
                self.quit = None;
            }
            if self.ended && (self.open == 0 || now >= at + 3 * READ_AFTER_EXIT) {
                return Some(Event::Over(self.reap()));
            }
            return None;
        }
        if now >= self.look {
            self.leader.look();
            self.look = Instant::now() + LOOK;
        }
        match self.ladder {
            Ladder::Term(at) if now >= at => {
                self.leader.look();
                self.leader.signal(libc::SIGTERM);
                self.leader.signal(libc::SIGCONT);
                self.ladder = Ladder::Kill(now + self.leader.term());
            }
            Ladder::Kill(at) if now >= at => {
                self.leader.kill();
                self.ladder = Ladder::Killed(now + STUCK);
            }
            Ladder::Killed(at) if now >= at => {
                self.reap_aside();
                return Some(Event::Over(Exit::Stuck));
            }
            _ => {}
        }
        if self.stopping() {
            return None;
        }
        if let Some((at, limit)) = self.timeout
            && now >= at
        {
            self.timeout = None;
            return Some(Event::Limit(Limit::Wall(limit)));
        }
        if let Some(limit) = self.idle
            && now.duration_since(self.noise) >= limit
        {
            self.idle = None;
            return Some(Event::Limit(Limit::Idle(limit)));
        }
        None
    }

    /// When something may be due.
    fn deadline(&self) -> Instant {
        if let Some(at) = self.exited {
            return at + if self.ended { 3 * READ_AFTER_EXIT } else { READ_AFTER_EXIT };
        }
        let ladder = match self.ladder {
            Ladder::Not => None,
            Ladder::Term(at) | Ladder::Kill(at) | Ladder::Killed(at) => Some(at),
        };
        let running = ladder.is_none();
        let wall = self.timeout.map(|(at, _)| at).filter(|_| running);
        let idle =
            self.idle.and_then(|limit| self.noise.checked_add(limit)).filter(|_| running && !self.busy);
        [Some(self.look), ladder, wall, idle].into_iter().flatten().min().unwrap_or(self.look)
    }

    fn pump(&mut self, stream: Stream, mut pipe: Pipe) -> io::Result<()> {
        let (inbox, mut writer) = (self.inbox.clone(), self.output.writer(stream));
        let what = if stream == Stream::Stdout { "stdout" } else { "stderr" };
        named(what, move || {
            let body = AssertUnwindSafe(|| {
                let mut buffer = vec![0; 64 * 1024];
                while let Ok(n @ 1..) = pipe.read(&mut buffer) {
                    writer.push(&buffer[..n]);
                    if !inbox.data(Item::Chunk(stream, buffer[..n].to_vec())) {
                        break;
                    }
                }
                writer.finish();
            });
            let _ = catch_unwind(body);
            inbox.data(Item::End(stream));
        })?;
        self.open += 1;
        Ok(())
    }

    /// Lets a thread wait for a process whose death may never come.
    fn reap_aside(&mut self) {
        self.inbox.close();
        self.quit = None;
        let (leader, child) = (self.leader.clone(), self.child.take());
        let _ = named("reap", move || _ = reaped(&leader, child));
    }

    fn reap(&mut self) -> Exit {
        self.inbox.close();
        self.output.finish();
        reaped(&self.leader, self.child.take())
    }
}

impl<T> Drop for Process<T> {
    fn drop(&mut self) {
        if self.child.is_some() {
            self.leader.kill();
            self.leader.end_rest();
            let (leader, child) = (self.leader.clone(), self.child.take());
            self.inbox.close();
            self.quit = None;
            let _ = named("reap", move || _ = reaped(&leader, child));
        }
    }
}
