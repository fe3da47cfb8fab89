//! An HTTP client for a process that is a server on loopback. Its events and its answers arrive as lines, like output.
//!
//! One thread reads the events while the process is running. Each request has a thread of its own, because some are
//! answered only when the work is done. All threads end with the process, because its exit closes the sockets.

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

/// Time limit for a connection.
const CONNECT: Duration = Duration::from_secs(10);

/// The address of a server, and how to use it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// The port on 127.0.0.1.
    pub port: u16,
    /// The `Authorization` header of each request.
    pub authorization: String,
    /// The path of its event stream (Server-Sent Events).
    pub events: &'static str,
    /// Events that contain one of these are dropped, and do not reset the idle limit.
    pub dull: &'static [&'static str],
}

/// A request to the server. The answer arrives as the line `{"superpower":{"answer":NAME,"status":…,"body":…}}`, with an
/// `error` instead of the status if the request failed. The end of the event stream arrives as the answer `events`.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The name of the answer.
    pub name: String,
    pub path: String,
    pub way: Way,
}

/// How a request is made.
#[derive(Clone, Debug, PartialEq)]
pub enum Way {
    Get,
    /// A GET without the password, to check that the server refuses it.
    Stranger,
    /// A POST of this body.
    Post(Value),
}

/// The client's configuration. Creating it reads the environment for a proxy, although none is used.
static CONFIG: LazyLock<Config> = LazyLock::new(|| {
    ureq::Agent::config_builder()
        // Loopback is reached directly, even if the user has a proxy.
        .proxy(None)
        .max_redirects(0)
        // The server may close an idle connection just when it is used again.
        .max_idle_connections(0)
        .http_status_as_error(false)
        .timeout_connect(Some(CONNECT))
        .build()
});

/// Creates the configuration, which reads the environment, on the editor's main thread, where that is safe.
pub fn prepare() {
    LazyLock::force(&CONFIG);
}

/// A connection to a process's server.
pub(super) struct ServerClient<T> {
    agent: ureq::Agent,
    server: Server,
    sink: LineSink<T>,
}

/// Sends lines to the process's inbox and to its output file.
struct LineSink<T> {
    pid: u32,
    max_line: usize,
    inbox: Arc<Inbox<Item<T>>>,
    output: Output,
}

impl<T: Send + 'static> ServerClient<T> {
    /// Starts to read the server's events. [`Item::End`] follows when they end.
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
            sink.send(&line);
            sink.inbox.data(Item::End(pid));
        })?;
        Ok(client)
    }

    /// Sends a request. Its answer or error arrives as a line.
    pub fn request(&self, request: Request) {
        let (agent, server, sink) = (self.agent.clone(), self.server.clone(), self.sink.clone());
        let name = request.name.clone();
        let started = named("request", move || {
            let answer = match sink.answer(&agent, &server, &request) {
                Ok((status, body)) => json!({"answer": request.name, "status": status, "body": body}),
                Err(error) => json!({"answer": request.name, "error": error.to_string()}),
            };
            sink.send(&answer);
        });
        if let Err(error) = started {
            // As an order, which never blocks: this thread is also the one that reads the inbox.
            let line = self.sink.save(&json!({"answer": name, "error": error.to_string()}));
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
    /// Reads the events until they end. Returns the status of the response.
    fn events(&self, agent: &ureq::Agent, server: &Server) -> Result<u16, String> {
        let url = format!("http://127.0.0.1:{}{}", server.port, server.events);
        let request = agent.get(url).header("authorization", &server.authorization);
        let response = request.header("accept", "text/event-stream").call().map_err(|e| e.to_string())?;
        let status = response.status().as_u16();
        if status != 200 {
            return Ok(status);
        }
        let mut body = response.into_body().into_reader();
        let (mut lines, mut bytes) = (Lines::new(self.max_line), Vec::new());
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
                bytes.extend_from_slice(data.trim_start().as_bytes());
                bytes.push(b'\n');
                if line.lost > 0 {
                    bytes.extend_from_slice(
                        format!("{}\n", json!({"superpower": {"lost": line.lost}})).as_bytes(),
                    );
                }
            });
            if !bytes.is_empty() {
                writer.push(&bytes);
                if !self.inbox.data(Item::Chunk(self.pid, Stream::Served, std::mem::take(&mut bytes))) {
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

    /// Sends a line of our own.
    fn send(&self, line: &Value) {
        self.inbox.data(Item::Chunk(self.pid, Stream::Served, self.save(line)));
    }

    /// Saves a line of our own in the output file, as the server's lines are, and returns its bytes.
    fn save(&self, line: &Value) -> Vec<u8> {
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
