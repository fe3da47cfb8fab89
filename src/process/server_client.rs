//! A process that serves on loopback: the events it sends, and its answers, come as lines among its output.
//!
//! One thread reads the events for as long as the process lives, and each request has a thread of its own, since some
//! are answered only when the work is done. All end with the process, whose end closes its sockets.

use super::inbox_item::Item;
use super::output::Output;
use super::thread::named;
use super::{Inbox, Lines, Stream};
use crate::tolerant;
use serde_json::{Value, json};
use std::io::{self, Read};
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use ureq::config::Config;

/// How long it may take to take a connection.
const CONNECT: Duration = Duration::from_secs(10);

/// Where a process serves, and how it is talked to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Its port on 127.0.0.1.
    pub port: u16,
    /// What it is to be shown with each request, as `Authorization`.
    pub authorization: String,
    /// The path of its events, as the Server-Sent Events of HTML.
    pub events: &'static str,
    /// What stands in an event that says nothing: such a one is dropped, and is no sign of life.
    pub dull: &'static [&'static str],
}

/// A request to it. The answer comes as the line `{"superpower":{"answer":NAME,"status":…,"body":…}}`, with an `error`
/// in place of the status where there is none. The end of the events is told so too, as the answer `events`.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Names the answer.
    pub name: String,
    /// The path.
    pub path: String,
    /// How it is asked.
    pub way: Way,
}

/// How a request is made.
#[derive(Clone, Debug, PartialEq)]
pub enum Way {
    /// A GET.
    Get,
    /// A GET by somebody who does not know the password.
    Stranger,
    /// A POST of this.
    Post(Value),
}

/// How servers are talked to. Making this reads the environment, for a proxy that is never used.
static CONFIG: LazyLock<Config> = LazyLock::new(|| {
    ureq::Agent::config_builder()
        // Loopback is reached directly, whatever proxy the user has for the rest.
        .proxy(None)
        .max_redirects(0)
        // One that is kept may be closed at the other end just when it is taken again.
        .max_idle_connections(0)
        .http_status_as_error(false)
        .timeout_connect(Some(CONNECT))
        .build()
});

/// Makes what reads the environment once, before another thread needs it. For the editor's main thread.
pub fn prepare() {
    LazyLock::force(&CONFIG);
}

/// A process's server, while it is connected.
pub(super) struct ServerClient<T> {
    agent: ureq::Agent,
    server: Server,
    sink: LineSink<T>,
}

/// Where lines go.
struct LineSink<T> {
    pid: u32,
    max_line: usize,
    inbox: Arc<Inbox<Item<T>>>,
    output: Output,
}

impl<T: Send + 'static> ServerClient<T> {
    /// Connects to a process's server, and begins to read its events. [`Item::End`] follows their end.
    pub fn connect(
        server: Server,
        pid: u32,
        max_line: usize,
        inbox: Arc<Inbox<Item<T>>>,
        output: Output,
    ) -> io::Result<Self> {
        let agent = ureq::Agent::new_with_config(CONFIG.clone());
        let client = Self { agent, server, sink: LineSink { pid, max_line, inbox, output } };
        let (agent, server, sink) = (client.agent.clone(), client.server.clone(), client.sink.clone());
        named("events", move || {
            let line = match sink.events(&agent, &server) {
                Ok(status) => json!({"answer": "events", "status": status}),
                Err(error) => json!({"answer": "events", "error": error}),
            };
            sink.tell(&line);
            sink.inbox.data(Item::End(pid));
        })?;
        Ok(client)
    }

    /// Sends a request; whatever becomes of it comes as a line.
    pub fn request(&self, request: Request) {
        let (agent, server, sink) = (self.agent.clone(), self.server.clone(), self.sink.clone());
        let name = request.name.clone();
        let started = named("request", move || {
            let answer = match sink.answer(&agent, &server, &request) {
                Ok((status, body)) => json!({"answer": request.name, "status": status, "body": body}),
                Err(error) => json!({"answer": request.name, "error": error.to_string()}),
            };
            sink.tell(&answer);
        });
        if let Err(error) = started {
            // As an order, which never waits: whoever asks is who reads.
            let line = self.sink.keep(&json!({"answer": name, "error": error.to_string()}));
            self.sink.inbox.order(Item::Chunk(self.sink.pid, Stream::Served, line));
        }
    }
}

impl<T> Clone for LineSink<T> {
    fn clone(&self) -> Self {
        let (inbox, output) = (self.inbox.clone(), self.output.clone());
        Self { pid: self.pid, max_line: self.max_line, inbox, output }
    }
}

impl<T> LineSink<T> {
    /// Reads the events to their end; the status where there are none.
    fn events(&self, agent: &ureq::Agent, server: &Server) -> Result<u16, String> {
        let url = format!("http://127.0.0.1:{}{}", server.port, server.events);
        let request = agent.get(url).header("authorization", &server.authorization);
        let response = request.header("accept", "text/event-stream").call().map_err(|e| e.to_string())?;
        let status = response.status().as_u16();
        if status != 200 {
            return Ok(status);
        }
        let mut body = response.into_body().into_reader();
        let (mut lines, mut told) = (Lines::new(self.max_line), Vec::new());
        let mut writer = self.output.writer(Stream::Served);
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let n = match body.read(&mut buffer) {
                Ok(0) => return Ok(status),
                Ok(n) => n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error.to_string()),
            };
            lines.push(&buffer[..n], |line| {
                let Some(data) = line.text.strip_prefix("data:") else { return };
                let head = data.get(..data.len().min(200)).unwrap_or(data);
                if server.dull.iter().any(|dull| head.contains(dull)) {
                    return;
                }
                told.extend_from_slice(data.trim_start().as_bytes());
                told.push(b'\n');
                if line.lost > 0 {
                    told.extend_from_slice(
                        format!("{}\n", json!({"superpower": {"lost": line.lost}})).as_bytes(),
                    );
                }
            });
            if !told.is_empty() {
                writer.push(&told);
                if !self.inbox.data(Item::Chunk(self.pid, Stream::Served, std::mem::take(&mut told))) {
                    return Ok(status);
                }
            }
        }
    }

    fn answer(
        &self,
        agent: &ureq::Agent,
        server: &Server,
        request: &Request,
    ) -> Result<(u16, Value), ureq::Error> {
        let url = format!("http://127.0.0.1:{}{}", server.port, request.path);
        let mut response = match &request.way {
            Way::Stranger => agent.get(url).call()?,
            Way::Get => agent.get(url).header("authorization", &server.authorization).call()?,
            Way::Post(body) => {
                let post = agent.post(url).header("authorization", &server.authorization);
                post.header("content-type", "application/json").send(body.to_string())?
            }
        };
        let status = response.status().as_u16();
        let mut body = Vec::new();
        response.body_mut().as_reader().take(self.max_line as u64).read_to_end(&mut body)?;
        let text = String::from_utf8_lossy(&body);
        Ok((status, tolerant::value(&text, tolerant::EVENT).unwrap_or_else(|_| json!(text))))
    }

    /// Tells a line of our own.
    fn tell(&self, line: &Value) {
        self.inbox.data(Item::Chunk(self.pid, Stream::Served, self.keep(line)));
    }

    /// A line of our own, which is kept with the output as the others are.
    fn keep(&self, line: &Value) -> Vec<u8> {
        let line = format!("{}\n", json!({"superpower": line}));
        let mut writer = self.output.writer(Stream::Served);
        writer.push(line.as_bytes());
        writer.finish();
        line.into_bytes()
    }
}

impl<T> std::fmt::Debug for ServerClient<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerClient").field("port", &self.server.port).finish_non_exhaustive()
    }
}
