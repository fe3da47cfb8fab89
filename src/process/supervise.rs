//! A process from its start to the end of the last that descends from it.

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
    /// The wall clock.
    Wall(Duration),
    /// Silence.
    Idle(Duration),
}

/// What a process's owner gets to see.
#[derive(Debug)]
pub enum Event<T> {
    /// Output, as it came.
    Chunk(Stream, Vec<u8>),
    /// Something that others told.
    Order(T),
    /// So much is left of the wall clock's limit: told once, so that what is under way can be brought to an end.
    Near(Duration),
    /// A limit is reached: told once. It is the owner's part to stop the process.
    Limit(Limit),
    /// The time to wake has come.
    Wake,
    /// It is dead, as is all that it started, and all its output was seen. Nothing follows.
    Over(Exit),
}

/// How often the descendants are looked up, so that one which cuts itself loose is known.
const LOOK: Duration = Duration::from_secs(2);
/// How long before the wall clock's limit it is told that it is near; a fifth of the limit where that is less.
const NEAR: Duration = Duration::from_secs(120);
/// A process that KILL does not end within this is in the kernel's hands.
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
    /// When [`Event::Near`] is to be told.
    near: Option<Instant>,
    idle: Option<Duration>,
    noise: Instant,
    busy: bool,
    look: Instant,
    ladder: Ladder,
    exited: Option<Instant>,
    ended: bool,
    /// Its status is taken, or left to be.
    reaped: bool,
}

/// What a process is made of, when it has just been started.
pub(super) struct Started<T> {
    pub leader: Arc<Leader>,
    pub inbox: Arc<Inbox<Item<T>>>,
    pub quit: io::PipeWriter,
    pub output: Output,
    pub stdin: Option<mpsc::Sender<Vec<u8>>>,
    pub open: u8,
}

/// How far the stopping has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ladder {
    Not,
    Term(Instant),
    Kill(Instant),
    Killed(Instant),
}

impl<T: Send + 'static> Process<T> {
    /// A process that has just been started. Whatever fails from here on, dropping it ends what was started.
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
            noise: now,
            busy: false,
            look: now + LOOK,
            ladder: Ladder::Not,
            exited: None,
            ended: false,
            reaped: false,
        }
    }

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

    /// Connects to what the process serves: its events come as [`Stream::Served`] from here on.
    pub fn connect(&mut self, server: Server) {
        if self.server.is_none() {
            let (inbox, output) = (self.inbox.clone(), self.output.clone());
            self.server =
                ServerClient::connect(server, self.leader.record.pid, self.max_line, inbox, output).ok();
            self.open += u8::from(self.server.is_some());
        }
    }

    /// Sends a request to what it serves. Never waits.
    pub fn request(&self, request: Request) {
        if let Some(server) = &self.server {
            server.request(request);
        }
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
                Some(Item::Order(order)) => return Event::Order(order),
                Some(Item::Chunk(pid, stream, chunk)) if pid == self.leader.record.pid => {
                    self.noise = Instant::now();
                    return Event::Chunk(stream, chunk);
                }
                Some(Item::End(pid)) if pid == self.leader.record.pid => {
                    self.open = self.open.saturating_sub(1)
                }
                Some(Item::Exited(pid)) if pid == self.leader.record.pid => {
                    self.exited = Some(Instant::now())
                }
                // Nothing, or the last words of an earlier process of the same inbox.
                _ => {}
            }
        }
    }

    /// Does what is due, and says what the owner must know.
    fn due(&mut self, now: Instant) -> Option<Event<T>> {
        if let Some(at) = self.exited {
            // While it is stopped, nobody waits for the output of what outlived it.
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
        if now >= self.look {
            self.leader.look();
            self.look = Instant::now() + LOOK;
        }
        match self.ladder {
            Ladder::Term(at) if now >= at => {
                self.leader.look();
                self.leader.signal(Signal::TERM);
                self.leader.signal(Signal::CONT);
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
        let wall = self.near.or(self.timeout.map(|(at, _)| at)).filter(|_| running);
        let idle =
            self.idle.and_then(|limit| self.noise.checked_add(limit)).filter(|_| running && !self.busy);
        [Some(self.look), ladder, wall, idle].into_iter().flatten().min().unwrap_or(self.look)
    }

    /// Lets a thread wait for a process whose death may never come.
    fn reap_aside(&mut self) {
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
