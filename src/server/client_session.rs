//! One client of a driver: reads its calls, and sends it the answers and the engine's events.

use super::clients::Clients;
use super::peer;
use super::wire::{self, Act, Call, Hello, MAX_CALL, Refused, read_line};
use crate::config::Config;
use crate::engine::queue::Queue;
use crate::engine::{CallerSettings, Deliver, FollowerId, Peer};
use crate::environ::{self, Variables};
use crate::sync::{locked, wait};
use serde_json::{Map, Value, json};
use std::io::{self, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Condvar, Mutex};
use std::thread::Builder;
use std::time::Duration;

/// A client that takes nothing for this long is dropped.
const SLOW: Duration = Duration::from_secs(10);
/// The first call must come within this time.
const FIRST: Duration = Duration::from_secs(10);
/// Calls of one client that may wait for their answers; it is not read meanwhile.
const MAX_WAITING: usize = 64;
/// What may wait for a client that reads slowly, in bytes. Beyond that it is dropped, and may come again.
const MAX_UNREAD: usize = 64 << 20;
/// Events in one write.
const BATCH: usize = 200;
/// How long agents have to end when their run is interrupted.
const GRACE: Duration = Duration::from_secs(1);

struct ClientSession {
    clients: Arc<Clients>,
    peer: Peer,
    queue: Arc<Queue>,
    follower: Option<FollowerId>,
    /// The configuration and environment of its newest call that brought them.
    config: Config,
    environment: Arc<Variables>,
    waiting: Arc<Waiting>,
}

/// Counts calls that wait for their answers.
#[derive(Default)]
struct Waiting {
    count: Mutex<usize>,
    bell: Condvar,
}

impl Waiting {
    fn add(&self) {
        let mut count = locked(&self.count);
        while *count >= MAX_WAITING {
            count = wait(&self.bell, count);
        }
        *count += 1;
    }

    fn remove(&self) {
        *locked(&self.count) -= 1;
        self.bell.notify_all();
    }
}

/// Serves a client until it leaves, or sends something else than calls.
pub(super) fn serve(clients: Arc<Clients>, mut stream: UnixStream) {
    let peer = match peer::of(&stream) {
        Ok(peer) => peer,
        Err(refused) => return refuse(&mut stream, &refused),
    };
    let _ = stream.set_write_timeout(Some(SLOW));
    let _ = stream.set_read_timeout(Some(FIRST));
    let (Ok(reader), Ok(writer), Ok((wake, bell))) = (stream.try_clone(), stream.try_clone(), io::pipe())
    else {
        return;
    };
    let Ok(shut) = stream.try_clone() else { return };
    let queue = Arc::new(Queue::bounded(MAX_UNREAD, shut));
    if queue.attach(bell.as_raw_fd()).is_err() || !send(&mut stream, &clients.hello()) {
        return;
    }
    drop(bell);
    let sending = queue.clone();
    let sender = Builder::new().name("superpower-send".into()).spawn(move || pump(wake, &sending, writer));
    let Ok(sender) = sender else { return };
    let mut client = ClientSession {
        clients,
        peer,
        queue: queue.clone(),
        follower: None,
        config: Config::default(),
        environment: environ::variables(),
        waiting: Arc::default(),
    };
    client.read(&stream, reader);
    if let Some(follower) = client.follower {
        client.clients.engine.unfollow(follower);
    }
    // Closes the pipe: the thread sends what is left, and ends.
    queue.detach();
    let _ = sender.join();
    let _ = stream.shutdown(Shutdown::Both);
}

fn refuse(stream: &mut UnixStream, why: &str) {
    let _ = stream.set_write_timeout(Some(SLOW));
    send(stream, &Refused { refused: why.to_owned() });
    let _ = stream.shutdown(Shutdown::Both);
}

fn send(stream: &mut UnixStream, line: &impl serde::Serialize) -> bool {
    let Ok(mut text) = serde_json::to_vec(line) else { return false };
    text.push(b'\n');
    stream.write_all(&text).is_ok()
}

/// Sends what is in the queue, whenever its bell rings.
fn pump(mut wake: io::PipeReader, queue: &Queue, mut stream: UnixStream) {
    let mut bytes = [0; 64];
    while matches!(wake.read(&mut bytes), Ok(read) if read > 0) {
        loop {
            let events = queue.poll(BATCH);
            let more = events.len() == BATCH;
            let mut text = String::with_capacity(events.iter().map(|event| event.len() + 1).sum());
            for event in events {
                text.push_str(&event);
                text.push('\n');
            }
            if stream.write_all(text.as_bytes()).is_err() {
                // It is gone, or takes nothing.
                let _ = stream.shutdown(Shutdown::Both);
                return;
            }
            if !more {
                break;
            }
        }
    }
}

impl ClientSession {
    fn read(&mut self, stream: &UnixStream, reader: UnixStream) {
        let mut reader = BufReader::new(reader);
        let mut first = true;
        while let Ok(Some(line)) = read_line(&mut reader, MAX_CALL) {
            match serde_json::from_slice::<Call>(&line) {
                Ok(call) => self.take(call),
                Err(error) => {
                    self.queue.push(json!({ "refused": format!("not a call: {error}") }));
                    // The rest cannot be trusted to be calls either.
                    return;
                }
            }
            if std::mem::take(&mut first) {
                let _ = stream.set_read_timeout(None);
            }
        }
    }

    fn take(&mut self, Call { id, act }: Call) {
        let engine = self.clients.engine.clone();
        match act {
            Act::Hello { lua } => {
                if self.follower.is_none() {
                    self.follower = Some(engine.follow(self.queue.clone(), lua));
                }
                let answer = json!({ "hello": self.clients.hello(), "driving": engine.is_driving() });
                self.answer(id, &json!({ "ok": answer }));
            }
            Act::Status => self.call(id, request("status", None), None),
            Act::Pause { run_id } => self.call(id, request("pause", run_id), None),
            Act::Cancel { run_id } => self.call(id, request("cancel", run_id), None),
            Act::Leave { now } => {
                let allowed = engine.may_drive(&self.peer, "end drivers");
                let answer = allowed.map(|()| json!({ "ok": { "now": self.clients.leave(now) } }));
                self.answer(id, &answer.unwrap_or_else(|refused| refused));
            }
            Act::Interrupt { run_id } => {
                let allowed = engine.may_drive(&self.peer, "interrupt runs");
                let interrupt = |()| {
                    engine.interrupt(&self.clients.root, &run_id, GRACE);
                    json!({ "ok": {} })
                };
                self.answer(id, &allowed.map(interrupt).unwrap_or_else(|refused| refused));
            }
            Act::Used => self.used(),
            Act::Call { request, config, environment } => {
                if let Some(environment) = environment {
                    self.environment = Arc::new(wire::unpacked(&environment));
                }
                if let Some(config) = config {
                    match serde_json::from_value(config) {
                        Ok(config) => self.configure(config),
                        Err(error) => {
                            let message = format!("the configuration cannot be read: {error}");
                            let refused = json!({ "err": { "code": "bad-request", "message": message } });
                            return self.answer(id, &refused);
                        }
                    }
                }
                self.used();
                let settings = engine.settings(self.config.clone(), self.environment.clone());
                self.call(id, request, Some(settings));
            }
        }
    }

    fn configure(&mut self, config: Config) {
        if let Some(follower) = self.follower {
            self.clients.engine.set_user(follower, !config.headless);
        }
        self.config = config;
    }

    fn used(&self) {
        if let Some(follower) = self.follower {
            self.clients.engine.used(follower);
        }
    }

    /// Performs an operation of the engine about this driver's project.
    fn call(&self, id: u64, mut request: Map<String, Value>, settings: Option<CallerSettings>) {
        if request.get("root").is_some_and(|root| *root != json!(self.clients.root)) {
            let message = format!("this driver serves \"{}\"", self.clients.root.display());
            return self.answer(id, &json!({ "err": { "code": "other-project", "message": message } }));
        }
        let rootless = request.get("op").is_some_and(|op| op == "answer" || op == "give-up-look");
        if !rootless {
            request.insert("root".into(), json!(self.clients.root));
        }
        // Each client counts its looks from one.
        if let (Some(look), Some(follower)) = (request.get_mut("look"), self.follower)
            && let Some(number) = look.as_u64()
        {
            *look = json!(follower.apart(number));
        }
        self.waiting.add();
        let (queue, waiting) = (self.queue.clone(), self.waiting.clone());
        let deliver: Deliver = Arc::new(move |_, answer| {
            queue
                .push_text(None, format!("{{\"type\":\"answered\",\"id\":{id},\"answer\":{answer}}}").into());
            waiting.remove();
        });
        self.clients.engine.request(request, self.peer.clone(), settings, deliver);
    }

    fn answer(&self, id: u64, answer: &Value) {
        self.queue.push(json!({ "type": "answered", "id": id, "answer": answer }));
    }
}

fn request(op: &str, run_id: Option<String>) -> Map<String, Value> {
    let mut request = Map::from_iter([("op".to_owned(), json!(op))]);
    if let Some(run_id) = run_id {
        request.insert("run_id".into(), json!(run_id));
    }
    request
}

impl Clients {
    /// The first line to a client.
    fn hello(&self) -> Hello {
        Hello {
            superpower: wire::VERSION.to_owned(),
            protocol: wire::PROTOCOL,
            pid: std::process::id(),
            root: self.root.clone(),
            driver: self.driver,
        }
    }
}
