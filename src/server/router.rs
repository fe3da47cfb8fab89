//! The door of an editor or a command: which process performs an operation.
//!
//! What concerns declarations is done here. Verbs that drive and views of runs go to the project's driver, if there is one
//! or one can be started; where none can be had they are done here too, and the runs are driven in this process.
//! Nothing here waits for a socket on an editor's main loop.

use super::link::Link;
use super::listener::{Listener, listen};
use super::overview;
use super::request::{Job, Otherwise, Reply, Request};
use crate::config::{Driver, OnExit};
use crate::engine::{Engine, Home, Place, place};
use crate::environ;
use crate::sync::locked;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Numbers of our own calls; Lua counts its own from one.
const OURS: u64 = 1 << 52;
/// How long exiting waits until what was said is sent.
const SENT: Duration = Duration::from_millis(500);

/// The door of an editor or a command.
pub struct Router {
    engine: Arc<Engine>,
    home: Home,
    links: Mutex<HashMap<PathBuf, Link>>,
    /// Sockets on which this process serves the runs that it drives itself.
    listeners: Mutex<HashMap<PathBuf, Option<Listener>>>,
    config: Mutex<Arc<Value>>,
    calls: AtomicU64,
    /// Whether runs are driven by a driver only, so that this process may leave them.
    detached: AtomicBool,
}

impl Router {
    /// A door for an editor or a command.
    pub fn new(home: Home) -> Self {
        Self {
            engine: Engine::at(home),
            home,
            links: Mutex::default(),
            listeners: Mutex::default(),
            config: Mutex::new(Arc::new(json!({}))),
            calls: AtomicU64::new(OURS),
            detached: AtomicBool::new(false),
        }
    }

    /// The engine in this process.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// From now on runs are driven by the project's driver, which is started, and never in this process.
    pub fn detach(&self) {
        self.detached.store(true, Ordering::SeqCst);
    }

    /// Whether this process is a client of the project's driver.
    pub fn is_client(&self, root: &Path) -> bool {
        locked(&self.links).get(root).is_some_and(|link| link.state.connection().is_some())
    }

    /// Interrupts the runs that drivers drive for this process, which still follows them; whether there are any.
    pub fn interrupt(&self) -> bool {
        let links = locked(&self.links);
        let interrupted = links.values().filter(|link| {
            let connection = link.state.connection();
            let driven = connection.and_then(|it| it.driven_for_us().map(|run_id| (it, run_id)));
            driven.inspect(|(it, run_id)| it.interrupt(self.number(), run_id, SENT)).is_some()
        });
        interrupted.count() > 0
    }

    /// Performs a request, as [`Engine::call`] does.
    pub fn call(&self, request: &str) -> String {
        let Ok(parsed) = serde_json::from_str::<Map<String, Value>>(request) else {
            return self.engine.call(request);
        };
        match parsed.get("op").and_then(Value::as_str).unwrap_or_default() {
            "configure" => {
                if let Some(config) = parsed.get("config") {
                    *locked(&self.config) = Arc::new(config.clone());
                }
                self.engine.call_parsed(parsed)
            }
            "stop" => {
                self.leave();
                let answer = self.engine.call_parsed(parsed);
                locked(&self.listeners).clear();
                answer
            }
            "ask" => self.ask(parsed),
            op => match place(op).map(|(place, _)| place) {
                Some(Place::Both) => self.in_both(parsed),
                Some(Place::Client) => about_drivers(&parsed).to_string(),
                Some(Place::Driver | Place::StartsDriver) => self.call_driver(parsed),
                Some(Place::Here) | None => self.engine.call_parsed(parsed),
            },
        }
    }

    /// A request whose answer comes as an event.
    fn ask(&self, parsed: Map<String, Value>) -> String {
        let request = parsed.get("request").and_then(Value::as_object);
        let op = request.and_then(|request| request.get("op")).and_then(Value::as_str);
        if op.and_then(place).is_some_and(|(place, _)| place == Place::Client) {
            return self.ask_about_drivers(&parsed);
        }
        let asked = |parsed: &Map<String, Value>| {
            let id = parsed.get("id")?.as_u64()?;
            let request = parsed.get("request")?.as_object()?;
            let place = place(request.get("op")?.as_str()?)?.0;
            let root = PathBuf::from(request.get("root")?.as_str()?);
            matches!(place, Place::Driver | Place::StartsDriver).then(|| (id, request.clone(), place, root))
        };
        let Some((id, request, place, root)) = asked(&parsed).filter(|asked| self.goes_to_driver(&asked.3))
        else {
            return self.engine.call_parsed(parsed);
        };
        environ::capture();
        crate::process::prepare();
        let asked = self.asked(id, request, place, Reply::Event);
        let sent = self.with_link(&root, |link| link.send(Job::Ask(Box::new(asked))));
        if sent { json!({ "ok": {} }).to_string() } else { self.engine.call_parsed(parsed) }
    }

    /// Looks at sockets on a thread of its own.
    fn ask_about_drivers(&self, parsed: &Map<String, Value>) -> String {
        environ::capture();
        let (id, request) = (parsed.get("id").cloned(), parsed.get("request").cloned().unwrap_or_default());
        let engine = self.engine.clone();
        let look = move || {
            let answer = about_drivers(request.as_object().unwrap_or(&Map::new()));
            engine.queue().push(json!({ "type": "answered", "id": id, "answer": answer }));
        };
        match std::thread::Builder::new().name("superpower-drivers".into()).spawn(look) {
            Ok(_) => json!({ "ok": {} }).to_string(),
            Err(error) => refused("no-thread", &error.to_string()).to_string(),
        }
    }

    /// A request of which each process that drives knows its own part.
    fn in_both(&self, parsed: Map<String, Value>) -> String {
        for link in locked(&self.links).values() {
            let asked = self.asked(self.number(), parsed.clone(), Place::Driver, Reply::Nobody);
            if link.state.connection().is_some() {
                link.send(Job::Ask(Box::new(asked)));
            }
        }
        self.engine.call_parsed(parsed)
    }

    /// A request about runs whose answer is returned.
    fn call_driver(&self, parsed: Map<String, Value>) -> String {
        let field = |name: &str| parsed.get(name).and_then(Value::as_str).map(str::to_owned);
        let (op, root) = (field("op").unwrap_or_default(), field("root").map(PathBuf::from));
        let Some(root) = root.filter(|root| self.goes_to_driver(root)) else {
            return self.engine.call_parsed(parsed);
        };
        let (_, _, headless) = self.engine.driving();
        let place = place(&op).map_or(Place::Driver, |(place, _)| place);
        if headless {
            environ::capture();
            let (waits, answer) = channel();
            let asked = self.asked(self.number(), parsed.clone(), place, Reply::Thread(waits));
            self.with_link(&root, |link| link.send(Job::Ask(Box::new(asked))));
            if let Ok(Some(answer)) = answer.recv() {
                return answer;
            }
            if place == Place::StartsDriver {
                self.serve(&root);
            }
            return self.engine.call_parsed(parsed);
        }
        // The main loop waits for no socket.
        let connection = locked(&self.links).get(&root).and_then(|link| link.state.connection());
        match (op.as_str(), connection) {
            ("status", Some(connection)) => {
                if let Some(event) = connection.picture(field("run_id").as_deref())
                    && let Ok(mut event) = serde_json::from_str::<Value>(&event)
                {
                    return json!({ "ok": event["run"].take() }).to_string();
                }
            }
            ("submit", Some(_)) => {
                environ::capture();
                let asked = self.asked(self.number(), parsed, place, Reply::Nobody);
                self.with_link(&root, |link| link.send(Job::Ask(Box::new(asked))));
                return json!({ "ok": {} }).to_string();
            }
            _ => {}
        }
        self.engine.call_parsed(parsed)
    }

    /// Whether a driver process is to be asked about a project.
    fn goes_to_driver(&self, root: &Path) -> bool {
        self.engine.driving().0 == Driver::Process && !self.engine.drives_in(root)
    }

    fn asked(&self, id: u64, request: Map<String, Value>, place: Place, reply: Reply) -> Request {
        let starts = place == Place::StartsDriver;
        let otherwise = match self.engine.driving() {
            _ if starts && self.detached.load(Ordering::SeqCst) => Otherwise::OnlyStarted,
            (_, _, false) if starts => Otherwise::Started,
            _ => Otherwise::Here,
        };
        Request {
            id,
            request,
            starts,
            otherwise,
            config: locked(&self.config).clone(),
            environment: environ::variables(),
            reply,
            again: false,
        }
    }

    fn number(&self) -> u64 {
        self.calls.fetch_add(1, Ordering::Relaxed)
    }

    /// Calls `act` with the link of a project; false where no thread can be had for one.
    fn with_link(&self, root: &Path, act: impl FnOnce(&Link)) -> bool {
        let mut links = locked(&self.links);
        if !links.contains_key(root) {
            match Link::begin(&self.engine, root, self.home == Home::Editor) {
                Ok(link) => _ = links.insert(root.to_owned(), link),
                Err(_) => return false,
            }
        }
        act(&links[root]);
        true
    }

    /// Lets others follow the run that this process is about to drive, and decide about it.
    fn serve(&self, root: &Path) {
        let mut listeners = locked(&self.listeners);
        if listeners.get(root).is_none_or(Option::is_none) {
            // Where it cannot be served it is driven all the same.
            let listener = listen(&self.engine, root, false).ok().flatten();
            listeners.insert(root.to_owned(), listener);
        }
    }

    /// Sends what is still to be said to drivers, and interrupts what is not to go on without this process.
    fn leave(&self) {
        let (_, on_exit, headless) = self.engine.driving();
        for (_, link) in locked(&self.links).drain() {
            let Some(connection) = link.state.connection() else { continue };
            link.flush(SENT);
            connection.wait_for_decisions(SENT);
            // A script that is ended takes along what it waits for; an editor, where that is wanted.
            if (on_exit == OnExit::Stop || headless)
                && let Some(run_id) = connection.driven_for_us()
            {
                connection.interrupt(self.number(), &run_id, SENT);
            }
            connection.close();
        }
    }
}

/// `drivers`, and `driver-end` with a root.
fn about_drivers(request: &Map<String, Value>) -> Value {
    if request.get("op").and_then(Value::as_str) == Some("drivers") {
        return json!({ "ok": overview::drivers() });
    }
    match request.get("root").and_then(Value::as_str) {
        Some(root) => match overview::end(Path::new(root)) {
            Ok(ended) => json!({ "ok": { "ended": ended } }),
            Err(why) => refused("driver", &why),
        },
        None => refused("bad-request", "the request lacks \"root\""),
    }
}

fn refused(code: &str, message: &str) -> Value {
    json!({ "err": { "code": code, "message": message } })
}
