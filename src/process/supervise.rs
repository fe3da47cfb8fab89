//! A running process, from its start until its last descendant has ended: events, time limits, and the steps of a stop.

use super::inbox_item::{Item, Stream};
use super::output::Output;
use super::server_client::{Request, Server, ServerClient};
use super::thread::named;
use super::{Exit, Inbox, Leader, READ_AFTER_EXIT, Spec};
use crate::outcome::ProcessRecord;
use rustix::process::Signal;
use std::io;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

/// Which limit was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The total time.
    Wall(Duration),
    /// The time without output.
    Idle(Duration),
}

/// An event for the owner of a process.
#[derive(Debug)]
pub enum Event<T> {
    /// Output.
    Chunk(Stream, Vec<u8>),
    /// An order that another thread has put into the inbox.
    Order(T),
    /// The time limit is near; this much is left. Sent once, so that the agent can finish its work.
    Near(Duration),
    /// A limit is reached. Sent once; the owner has to stop the process.
    Limit(Limit),
    /// The time given to [`Process::next`] has come.
    Wake,
    /// It has exited, its descendants have ended, and all output was received. This is the last event.
    Over(Exit),
}

/// How often to scan for descendants, so that one that leaves the group is known before its parent exits.
const SCAN_INTERVAL: Duration = Duration::from_secs(2);
/// How long before the time limit [`Event::Near`] is sent; a fifth of the limit if that is less.
const NEAR: Duration = Duration::from_secs(120);
/// A process that SIGKILL does not end in this time is blocked in the kernel.
const STUCK: Duration = Duration::from_secs(3);

/// A running process.
#[derive(Debug)]
pub struct Process<T> {
    leader: Arc<Leader>,
    inbox: Arc<Inbox<Item<T>>>,
    stdin: Option<mpsc::Sender<Vec<u8>>>,
    quit: Option<io::PipeWriter>,
    output: Output,
    open: u8,
    server: Option<ServerClient<T>>,
    max_line: usize,
    timeout: Option<(Instant, Duration)>,
    /// When to send [`Event::Near`].
    near: Option<Instant>,
    idle: Option<Duration>,
    last_output: Instant,
    busy: bool,
    next_scan: Instant,
    stop: StopStep,
    exited: Option<Instant>,
    ended: bool,
    /// Its exit status is taken, or left to another thread.
    reaped: bool,
}

/// The parts of a process that has just been started.
pub(super) struct Started<T> {
    pub leader: Arc<Leader>,
    pub inbox: Arc<Inbox<Item<T>>>,
    pub quit: io::PipeWriter,
    pub output: Output,
    pub stdin: Option<mpsc::Sender<Vec<u8>>>,
    pub open: u8,
}

/// The current step of a stop: SIGTERM follows at the time, then SIGKILL, then giving up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StopStep {
    Not,
    Term(Instant),
    Kill(Instant),
    Killed(Instant),
}

impl<T: Send + 'static> Process<T> {
    /// Takes over a process that has just been started. Dropping it ends the process and its descendants.
    pub(super) fn new(parts: Started<T>, spec: &Spec) -> Self {
        let Started { leader, inbox, quit, output, stdin, open } = parts;
        let now = Instant::now();
        Self {
            leader,
            inbox,
            stdin,
            quit: Some(quit),
            output,
            open,
            server: None,
            max_line: spec.max_line,
            timeout: spec.timeout.and_then(|limit| Some((now.checked_add(limit)?, limit))),
            near: spec.timeout.and_then(|limit| now.checked_add(limit.saturating_sub((limit / 5).min(NEAR)))),
            idle: spec.idle,
            last_output: now,
            busy: false,
            next_scan: now + SCAN_INTERVAL,
            stop: StopStep::Not,
            exited: None,
            ended: false,
            reaped: false,
        }
    }

    /// A handle for ending the process from another thread.
    pub fn leader(&self) -> Arc<Leader> {
        self.leader.clone()
    }

    /// Its record, for the journal.
    pub fn record(&self) -> ProcessRecord {
        self.leader.record.clone()
    }

    /// Writes to the standard input of a duplex process. Never blocks.
    pub fn write(&self, bytes: Vec<u8>) {
        if let Some(stdin) = &self.stdin {
            let _ = stdin.send(bytes);
        }
    }

    /// Closes the standard input of a duplex process when everything is written.
    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Connects to the server that the process runs. Its events then arrive as [`Stream::Served`].
    pub fn connect(&mut self, server: Server) {
        if self.server.is_none() {
            let (inbox, output) = (self.inbox.clone(), self.output.clone());
            self.server =
                ServerClient::connect(server, self.leader.record.pid, self.max_line, inbox, output).ok();
            self.open += u8::from(self.server.is_some());
        }
    }

    /// Sends a request to that server. Never blocks.
    pub fn request(&self, request: Request) {
        if let Some(server) = &self.server {
            server.request(request);
        }
    }

    /// Sets whether something is known to be active, so that the idle limit does not apply.
    pub const fn set_busy(&mut self, busy: bool) {
        self.busy = busy;
    }

    /// What of it could not be ended, each process in words: known once it is over.
    pub fn left(&self) -> Vec<String> {
        self.leader.left()
    }

    /// Whether it is being stopped.
    pub fn stopping(&self) -> bool {
        self.stop != StopStep::Not
    }

    /// The signal that was needed to stop it; `None` if it ended by itself.
    pub const fn stop_signal(&self) -> Option<&'static str> {
        match self.stop {
            StopStep::Not | StopStep::Term(_) => None,
            StopStep::Kill(_) => Some("TERM"),
            StopStep::Killed(_) => Some("KILL"),
        }
    }

    /// Starts to stop it: SIGTERM to its group after `polite`, SIGKILL after another `term`. Later calls can only shorten
    /// these times.
    pub fn stop(&mut self, polite: Duration, term: Duration) {
        let now = Instant::now();
        self.leader.scan();
        self.stop = match self.stop {
            StopStep::Not => StopStep::Term(now + polite),
            StopStep::Term(at) => StopStep::Term(at.min(now + polite)),
            StopStep::Kill(at) => StopStep::Kill(at.min(now + term)),
            killed => killed,
        };
        self.leader.set_term(term);
    }

    /// Waits for the next event, or until `wake`.
    pub fn next(&mut self, wake: Option<Instant>) -> Event<T> {
        loop {
            let now = Instant::now();
            if self.busy {
                self.last_output = now;
            }
            if let Some(event) = self.due(now) {
                return event;
            }
            if wake.is_some_and(|wake| wake <= now) {
                return Event::Wake;
            }
            let until = [Some(self.deadline()), wake].into_iter().flatten().min();
            match self.inbox.next(until) {
                Some(Item::Order(order)) => return Event::Order(order),
                Some(Item::Chunk(pid, stream, chunk)) if pid == self.leader.record.pid => {
                    self.last_output = Instant::now();
                    return Event::Chunk(stream, chunk);
                }
                Some(Item::End(pid)) if pid == self.leader.record.pid => {
                    self.open = self.open.saturating_sub(1)
                }
                Some(Item::Exited(pid)) if pid == self.leader.record.pid => {
                    self.exited = Some(Instant::now())
                }
                // A timeout, or an item of an earlier process with the same inbox.
                _ => {}
            }
        }
    }

    /// Handles what is due at this time. Returns an event for the owner, if there is one.
    fn due(&mut self, now: Instant) -> Option<Event<T>> {
        if let Some(at) = self.exited {
            // During a stop the output of leftover descendants is not needed.
            if !self.ended && (self.open == 0 || self.stopping() || now >= at + READ_AFTER_EXIT) {
                self.ended = true;
                self.leader.end_rest(self.stopping());
                self.quit = None;
            }
            if self.ended && (self.open == 0 || now >= at + 3 * READ_AFTER_EXIT) {
                return Some(Event::Over(self.reap()));
            }
            return None;
        }
        if now >= self.next_scan {
            self.leader.scan();
            self.next_scan = Instant::now() + SCAN_INTERVAL;
        }
        match self.stop {
            StopStep::Term(at) if now >= at => {
                self.leader.scan();
                self.leader.signal(Signal::TERM);
                self.leader.signal(Signal::CONT);
                self.stop = StopStep::Kill(now + self.leader.term());
            }
            StopStep::Kill(at) if now >= at => {
                self.leader.kill();
                self.stop = StopStep::Killed(now + STUCK);
            }
            StopStep::Killed(at) if now >= at => {
                self.leader.end_rest(true);
                self.reap_in_thread();
                return Some(Event::Over(self.leader.unreaped()));
            }
            _ => {}
        }
        if self.stopping() {
            return None;
        }
        if let (Some(near), Some((at, _))) = (self.near, self.timeout)
            && now >= near
        {
            self.near = None;
            return Some(Event::Near(at.saturating_duration_since(now)));
        }
        if let Some((at, limit)) = self.timeout
            && now >= at
        {
            self.timeout = None;
            return Some(Event::Limit(Limit::Wall(limit)));
        }
        if let Some(limit) = self.idle
            && now.duration_since(self.last_output) >= limit
        {
            self.idle = None;
            return Some(Event::Limit(Limit::Idle(limit)));
        }
        None
    }

    /// When [`Process::due`] has something to do next.
    fn deadline(&self) -> Instant {
        if let Some(at) = self.exited {
            return at + if self.ended { 3 * READ_AFTER_EXIT } else { READ_AFTER_EXIT };
        }
        let stop = match self.stop {
            StopStep::Not => None,
            StopStep::Term(at) | StopStep::Kill(at) | StopStep::Killed(at) => Some(at),
        };
        let running = stop.is_none();
        let wall = self.near.or(self.timeout.map(|(at, _)| at)).filter(|_| running);
        let idle =
            self.idle.and_then(|limit| self.last_output.checked_add(limit)).filter(|_| running && !self.busy);
        [Some(self.next_scan), stop, wall, idle].into_iter().flatten().min().unwrap_or(self.next_scan)
    }

    /// Reaps in a thread a process that may never exit.
    fn reap_in_thread(&mut self) {
        self.reaped = true;
        self.inbox.close();
        self.quit = None;
        if self.leader.reaping_waits() {
            let leader = self.leader.clone();
            let _ = named("reap", move || _ = leader.reap());
        }
    }

    fn reap(&mut self) -> Exit {
        self.reaped = true;
        self.inbox.close();
        self.output.finish();
        self.leader.reap()
    }
}

impl<T> Drop for Process<T> {
    fn drop(&mut self) {
        if !self.reaped {
            self.leader.kill();
            self.leader.end_rest(true);
            self.inbox.close();
            self.quit = None;
            if self.leader.reaping_waits() {
                let leader = self.leader.clone();
                let _ = named("reap", move || _ = leader.reap());
            }
        }
    }
}
