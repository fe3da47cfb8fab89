//! A client's link to the driver of one project: a thread that connects, starts a driver where one is needed, and sends
//! what is asked for, in order. What no driver can be had for is performed in this process.

use super::connection::Connection;
use super::request::{Job, Otherwise, Reply, Request, notice};
use super::start;
use super::wire::PROTOCOL;
use crate::config::Driver;
use crate::engine::Engine;
use crate::sync::locked;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, Weak};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// How long a driver that was asked to leave may take.
const LEAVES: Duration = Duration::from_secs(3);

/// A link to one project's driver.
#[derive(Debug)]
pub(super) struct Link {
    outbox: Sender<Job>,
    pub(super) state: Arc<LinkState>,
}

/// What others may know of a link.
#[derive(Debug, Default)]
pub(super) struct LinkState {
    connection: Mutex<Option<Arc<Connection>>>,
    /// What was said about driving in this process.
    said: Mutex<Option<String>>,
}

impl LinkState {
    /// The connection, while there is one.
    pub(super) fn connection(&self) -> Option<Arc<Connection>> {
        locked(&self.connection).clone().filter(|connection| !connection.is_over())
    }
}

/// What the link's thread needs.
struct Worker {
    root: PathBuf,
    engine: Weak<Engine>,
    state: Arc<LinkState>,
    outbox: Sender<Job>,
    /// Whether this client has Lua.
    lua: bool,
}

impl Link {
    pub(super) fn begin(engine: &Arc<Engine>, root: &Path, lua: bool) -> std::io::Result<Self> {
        let (outbox, inbox) = channel();
        let state = Arc::new(LinkState::default());
        let worker = Worker {
            root: root.to_owned(),
            engine: Arc::downgrade(engine),
            state: state.clone(),
            outbox: outbox.clone(),
            lua,
        };
        Builder::new().name("superpower-link".into()).spawn(move || worker.work(&inbox))?;
        Ok(Self { outbox, state })
    }

    pub(super) fn send(&self, job: Job) {
        let _ = self.outbox.send(job);
    }

    /// Waits until everything is sent.
    pub(super) fn flush(&self, limit: Duration) {
        let (sender, sent) = channel();
        self.send(Job::Flush(sender));
        let _ = sent.recv_timeout(limit);
    }
}

impl Worker {
    fn work(&self, inbox: &Receiver<Job>) {
        for job in inbox {
            let Some(engine) = self.engine.upgrade() else { return };
            match job {
                Job::Ask(asked) => self.ask(&engine, *asked),
                Job::Flush(sent) => _ = sent.send(()),
            }
        }
    }

    fn ask(&self, engine: &Arc<Engine>, asked: Request) {
        match self.connect(engine, &asked) {
            Ok(Some(connection)) => {
                connection.ask(engine, asked);
            }
            Ok(None) => here(engine, asked),
            Err(why) if asked.otherwise == Otherwise::OnlyStarted => refuse(asked, &why),
            Err(why) => {
                self.say(engine, &why, &asked);
                here(engine, asked);
            }
        }
    }

    /// The connection to the driver; `None` where there is none and none is needed. The error says why it cannot be had.
    fn connect(&self, engine: &Arc<Engine>, asked: &Request) -> Result<Option<Arc<Connection>>, String> {
        let connection = self.connected(engine, asked)?;
        let hello = connection.as_ref().map(|connection| connection.hello());
        if asked.otherwise == Otherwise::OnlyStarted
            && let Some(hello) = hello.filter(|hello| !hello.driver)
        {
            return Err(format!(
                "a command (process {}) drives a run of this project until it next pauses; wait for that",
                hello.pid
            ));
        }
        Ok(connection)
    }

    fn connected(&self, engine: &Arc<Engine>, asked: &Request) -> Result<Option<Arc<Connection>>, String> {
        if let Some(connection) = self.state.connection() {
            return Ok(Some(connection));
        }
        let mut started = false;
        loop {
            match Connection::open(engine, &self.root, self.outbox.clone(), self.lua)? {
                Some(connection) if connection.is_current() || !self.has_left(engine, &connection) => {
                    *locked(&self.state.connection) = Some(connection.clone());
                    return Ok(Some(connection));
                }
                Some(_) => {}
                None if started => return Err("the driver has ended again at once".to_owned()),
                None => {}
            }
            let here = asked.otherwise == Otherwise::Here;
            if here || engine.driving().0 != Driver::Process || engine.is_nested() {
                return Ok(None);
            }
            start::start(&self.root, &asked.environment)?;
            started = true;
        }
    }

    /// Asks a driver of another version to leave; whether it has left already.
    fn has_left(&self, engine: &Engine, connection: &Arc<Connection>) -> bool {
        let hello = connection.hello();
        connection.tell(&json!({ "op": "leave" }));
        let until = Instant::now() + LEAVES;
        while !connection.is_over() && Instant::now() < until && !connection.is_driving() {
            std::thread::sleep(Duration::from_millis(10));
        }
        if connection.is_over() {
            return true;
        }
        let can = if hello.protocol == PROTOCOL { "" } else { "; until then only pause and cancel reach it" };
        let words = format!(
            "superpower {} drives this project (process {}) and leaves at its next pause; this is superpower {}{can}",
            hello.superpower,
            hello.pid,
            super::wire::VERSION,
        );
        notice(engine, &self.root, "info", &words);
        false
    }

    /// Says once why a run is driven in this process.
    fn say(&self, engine: &Engine, why: &str, asked: &Request) {
        let mut said = locked(&self.state.said);
        if !asked.starts || said.as_deref() == Some(why) {
            return;
        }
        *said = Some(why.to_owned());
        notice(engine, &self.root, "warn", &format!("{why}; the run is driven in this editor"));
    }
}

/// Answers that no driver can be had.
fn refuse(asked: Request, why: &str) {
    let answer = json!({ "err": { "code": "no-driver", "message": why } });
    if let Reply::Thread(waits) = asked.reply {
        let _ = waits.send(Some(answer.to_string()));
    }
}

/// Performs an operation in this process.
pub(super) fn here(engine: &Engine, asked: Request) {
    match asked.reply {
        Reply::Event => engine.ask_from_thread(asked.id, asked.request),
        Reply::Thread(waits) => _ = waits.send(None),
        Reply::Nobody => {}
    }
}
