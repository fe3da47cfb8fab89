//! One connection to a driver: what was asked and is not answered yet, and a thread that reads what comes.

use super::greeting::{Greeted, greet};
use super::request::{Job, Reply, Request, notice};
use super::wire::{self, Hello, MAX_EVENT, PROTOCOL, VERSION, read_line};
use crate::engine::{Engine, is_done_on_exit};
use crate::environ::Variables;
use crate::sync::locked;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::Deserialize;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, BufReader, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// A driver that says nothing for this long, although it should, is asked whether it lives.
const ASK: Duration = Duration::from_secs(1);
/// One that says nothing for this long is shown as silent.
const SILENT: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub(super) struct Connection {
    root: PathBuf,
    hello: Hello,
    stream: Mutex<UnixStream>,
    /// Calls without an answer.
    waiting: Mutex<BTreeMap<u64, Request>>,
    /// The configuration and environment that were sent last.
    sent: Mutex<Sent>,
    /// The newest picture, and whether its run is active.
    picture: Mutex<Option<(Arc<str>, RunHead)>>,
    /// The run that this client has started or continued last.
    driven: Mutex<Option<String>>,
    /// Makes the reading thread look at what is waited for.
    wake: Mutex<io::PipeWriter>,
    answered: AtomicBool,
    driving: AtomicBool,
    over: AtomicBool,
    /// This client has left.
    closed: AtomicBool,
}

/// What every call of a connection has in common, sent when it changes.
#[derive(Debug, Default)]
struct Sent {
    config: Option<Arc<Value>>,
    environment: Option<Arc<Variables>>,
}

/// What kind of event it is.
#[derive(Deserialize)]
struct Kind<'a> {
    #[serde(rename = "type", default, borrow)]
    kind: Cow<'a, str>,
    refused: Option<String>,
}

#[derive(Deserialize)]
struct Answered {
    id: u64,
    answer: Value,
}

#[derive(Deserialize)]
struct Snapshot {
    run: RunHead,
}

#[derive(Clone, Debug, Deserialize)]
struct RunHead {
    run_id: String,
    state: String,
}

impl Connection {
    /// Connects to a project's driver; `None` if there is none. The error says what is there instead.
    pub(super) fn open(
        engine: &Arc<Engine>,
        root: &Path,
        link: Sender<Job>,
        lua: bool,
    ) -> Result<Option<Arc<Self>>, String> {
        let Some(Greeted { hello, stream, mut reader }) = greet(root)? else { return Ok(None) };
        let pid = hello.pid;
        let failed = move |error: io::Error| format!("cannot talk to the driver (process {pid}): {error}");
        let (sleep, wake) = io::pipe().map_err(failed)?;
        let connection = Arc::new(Self {
            root: root.to_owned(),
            hello,
            stream: Mutex::new(stream),
            waiting: Mutex::default(),
            sent: Mutex::default(),
            picture: Mutex::default(),
            driven: Mutex::default(),
            wake: Mutex::new(wake),
            answered: AtomicBool::new(false),
            driving: AtomicBool::new(false),
            over: AtomicBool::new(false),
            closed: AtomicBool::new(false),
        });
        connection.tell(&json!({ "op": "hello", "id": 0, "lua": lua }));
        let (reading, engine) = (connection.clone(), Arc::downgrade(engine));
        let read = move || {
            let mut silent = false;
            while reading.wait_for_lines(&reader, &sleep, &engine, &mut silent) {
                let line = match read_line(&mut reader, MAX_EVENT) {
                    Ok(Some(line)) => line,
                    Ok(None) | Err(_) => break,
                };
                let Some(engine) = engine.upgrade() else { break };
                reading.take(&engine, line);
            }
            reading.end(engine.upgrade().as_deref(), &link);
        };
        Builder::new().name("superpower-read".into()).spawn(read).map_err(failed)?;
        Ok(Some(connection))
    }

    pub(super) fn hello(&self) -> &Hello {
        &self.hello
    }

    /// Whether the driver is of this very version.
    pub(super) fn is_current(&self) -> bool {
        self.hello.superpower == VERSION && self.hello.protocol == PROTOCOL
    }

    pub(super) fn is_over(&self) -> bool {
        self.over.load(Ordering::SeqCst)
    }

    /// Whether the driver has said that it drives something.
    pub(super) fn is_driving(&self) -> bool {
        self.driving.load(Ordering::SeqCst)
    }

    /// The newest picture of the project's run, as an event, if it is the run with this id.
    pub(super) fn picture(&self, run_id: Option<&str>) -> Option<Arc<str>> {
        let picture = locked(&self.picture);
        let (event, run) = picture.as_ref()?;
        (run.is_active() && run_id.is_none_or(|id| id == run.run_id)).then(|| event.clone())
    }

    /// Ends the connection, because this client leaves: nothing is said of it.
    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        let _ = locked(&self.stream).shutdown(Shutdown::Both);
    }

    /// The run that this client has started or continued, while the driver drives it.
    pub(super) fn driven_for_us(&self) -> Option<String> {
        let driven = locked(&self.driven).clone();
        // The newest picture may still be that of the run before.
        let stopped = |run_id: &String| {
            let picture = locked(&self.picture);
            picture.as_ref().is_some_and(|(_, run)| run.run_id == *run_id && run.state != "running")
        };
        driven.filter(|run_id| !stopped(run_id))
    }

    /// Waits until nothing that a person decided is without an answer, for at most `limit`: the driver takes nothing from
    /// a process that has ended.
    pub(super) fn wait_for_decisions(&self, limit: Duration) {
        let until = Instant::now() + limit;
        let decides = |request: &Request| {
            request.request.get("op").and_then(Value::as_str).is_some_and(is_done_on_exit)
        };
        while locked(&self.waiting).values().any(decides) && !self.is_over() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Interrupts a run, and waits until the driver has done so: it listens to nobody who has ended meanwhile.
    pub(super) fn interrupt(&self, id: u64, run_id: &str, limit: Duration) {
        let (waits, done) = channel();
        let request = Request { reply: Reply::Thread(waits), ..Request::of_connection(id) };
        locked(&self.waiting).insert(id, request);
        self.tell(&json!({ "op": "interrupt", "id": id, "run_id": run_id }));
        let _ = done.recv_timeout(limit);
    }

    /// Sends an operation. Its answer comes later.
    pub(super) fn ask(&self, engine: &Engine, asked: Request) {
        let mut line = if self.hello.protocol == PROTOCOL {
            json!({ "op": "call", "request": asked.request })
        } else {
            match stable(&asked) {
                Some(line) => line,
                None => return self.refuse(engine, asked),
            }
        };
        line["id"] = json!(asked.id);
        {
            let mut sent = locked(&self.sent);
            if sent.config.as_ref().is_none_or(|known| *known != asked.config) {
                line["config"] = (*asked.config).clone();
                sent.config = Some(asked.config.clone());
            }
            if sent.environment.as_ref().is_none_or(|known| *known != asked.environment) {
                line["environment"] = json!(wire::packed(&asked.environment));
                sent.environment = Some(asked.environment.clone());
            }
        }
        locked(&self.waiting).insert(asked.id, asked);
        let _ = locked(&self.wake).write(b"!");
        self.tell(&line);
    }

    /// Sends a line. Where that fails the reading thread sees the end.
    pub(super) fn tell(&self, line: &Value) {
        let mut text = line.to_string();
        text.push('\n');
        let mut stream = locked(&self.stream);
        if stream.write_all(text.as_bytes()).is_err() {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    fn refuse(&self, engine: &Engine, asked: Request) {
        let message = format!(
            "another version of superpower ({}) drives this project (process {}) and leaves at its next pause; \
             pause or cancel the run, or wait",
            self.hello.superpower, self.hello.pid
        );
        self.fail(engine, asked, "other-driver", &message);
    }

    /// Answers a call with an error.
    fn fail(&self, engine: &Engine, asked: Request, code: &str, message: &str) {
        let answer = json!({ "err": { "code": code, "message": message } });
        match asked.reply {
            Reply::Event => {
                engine.queue().push(json!({ "type": "answered", "id": asked.id, "answer": answer }));
            }
            Reply::Thread(waits) => _ = waits.send(Some(answer.to_string())),
            Reply::Nobody => notice(engine, &self.root, "warn", message),
        }
    }

    /// Waits until there is something to read; false at the end. Says when the driver has been silent for long.
    fn wait_for_lines(
        &self,
        reader: &BufReader<UnixStream>,
        sleep: &io::PipeReader,
        engine: &std::sync::Weak<Engine>,
        silent: &mut bool,
    ) -> bool {
        if !reader.buffer().is_empty() {
            return true;
        }
        let mut since = Instant::now();
        let mut asked = false;
        loop {
            let watched = self.is_watched();
            let limit = if !watched || *silent {
                None
            } else if asked {
                Some(SILENT.saturating_sub(since.elapsed()))
            } else {
                Some(ASK.saturating_sub(since.elapsed()))
            };
            let limit =
                limit.map(|left| Timespec { tv_sec: left.as_secs() as _, tv_nsec: left.subsec_nanos() as _ });
            let mut ready = [PollFd::new(reader.get_ref(), PollFlags::IN), PollFd::new(sleep, PollFlags::IN)];
            match poll(&mut ready, limit.as_ref()) {
                Ok(0) if !asked => {
                    asked = true;
                    self.tell(&json!({ "op": "hello", "id": 0 }));
                }
                Ok(0) => {
                    *silent = true;
                    self.say_silent(engine, true);
                }
                Ok(_) if !ready[0].revents().is_empty() => {
                    if std::mem::take(silent) {
                        self.say_silent(engine, false);
                    }
                    return true;
                }
                Ok(_) => {
                    let mut bytes = [0; 64];
                    if rustix::io::read(sleep, &mut bytes).is_err() {
                        return false;
                    }
                    if !watched {
                        since = Instant::now();
                    }
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return false,
            }
        }
    }

    /// Whether something is expected of the driver.
    fn is_watched(&self) -> bool {
        !locked(&self.waiting).is_empty()
            || locked(&self.picture).as_ref().is_some_and(|(_, run)| run.state == "running")
    }

    fn say_silent(&self, engine: &std::sync::Weak<Engine>, silent: bool) {
        if let Some(engine) = engine.upgrade() {
            let event = json!({ "type": "driver-silent", "root": self.root, "pid": self.hello.pid, "silent": silent });
            engine.queue().push(event);
        }
    }

    fn take(&self, engine: &Engine, line: Vec<u8>) {
        let Ok(text) = String::from_utf8(line) else { return };
        let Ok(head) = serde_json::from_str::<Kind>(&text) else { return };
        if let Some(refused) = head.refused {
            return notice(engine, &self.root, "error", &refused);
        }
        match &*head.kind {
            "answered" => self.answered(engine, text),
            "snapshot" => {
                let run = serde_json::from_str::<Snapshot>(&text).ok().map(|snapshot| snapshot.run);
                let event: Arc<str> = text.into();
                *locked(&self.picture) = run.map(|run| (event.clone(), run));
                engine.queue().push_text(Some(&format!("snapshot {}", self.root.display())), event);
            }
            _ => engine.queue().push_text(None, text.into()),
        }
    }

    fn answered(&self, engine: &Engine, text: String) {
        let Ok(Answered { id, answer }) = serde_json::from_str(&text) else { return };
        if id == 0 {
            let driving = answer["ok"]["driving"].as_bool().unwrap_or_default();
            return self.driving.store(driving, Ordering::SeqCst);
        }
        self.answered.store(true, Ordering::SeqCst);
        let Some(asked) = locked(&self.waiting).remove(&id) else { return };
        if asked.starts
            && let Some(run_id) = answer["ok"]["run_id"].as_str()
        {
            *locked(&self.driven) = Some(run_id.to_owned());
        }
        match asked.reply {
            Reply::Event => engine.queue().push_text(None, text.into()),
            Reply::Thread(waits) => _ = waits.send(Some(answer.to_string())),
            Reply::Nobody => {
                if let Some(message) = answer["err"]["message"].as_str() {
                    notice(engine, &self.root, "warn", message);
                }
            }
        }
    }

    /// The connection has ended: nothing that was asked stays without an answer.
    fn end(&self, engine: Option<&Engine>, link: &Sender<Job>) {
        self.over.store(true, Ordering::SeqCst);
        let Some(engine) = engine.filter(|_| !self.closed.load(Ordering::SeqCst)) else { return };
        let none_answered = !self.answered.load(Ordering::SeqCst);
        for mut asked in std::mem::take(&mut *locked(&self.waiting)).into_values() {
            if none_answered && !asked.again && !matches!(asked.reply, Reply::Nobody) {
                // It left as we came: another one is started, once.
                asked.again = true;
                let _ = link.send(Job::Ask(Box::new(asked)));
                continue;
            }
            let message = format!(
                "the driver (process {}) has ended before it answered; look at the run, and try again",
                self.hello.pid
            );
            self.fail(engine, asked, "driver-gone", &message);
        }
        let run = locked(&self.picture).take().map(|(_, run)| run);
        let running = run.as_ref().is_some_and(|run| run.state == "running");
        engine.queue().push(json!({
            "type": "driver-gone", "root": self.root, "pid": self.hello.pid,
            "run_id": run.map(|run| run.run_id), "running": running,
        }));
    }
}

impl RunHead {
    /// Whether the driver knows more of the run than its files say.
    fn is_active(&self) -> bool {
        self.state == "running"
    }
}

/// The call that every version understands.
fn stable(asked: &Request) -> Option<Value> {
    let op = asked.request.get("op")?.as_str()?;
    let known = matches!(op, "status" | "pause" | "cancel");
    known.then(|| json!({ "op": op, "run_id": asked.request.get("run_id") }))
}
