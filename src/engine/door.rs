//! The entry point: looks up the requested operation, performs it, and serializes the reply. It never fails: errors and
//! panics are returned as data.

use super::caller::{self, CallerSettings, Peer};
use super::core::Engine;
use super::op::{Fields, Lane, OnExit, Op, Reply, Run};
use super::refusal::Refusal;
use super::{nested, ops, panic_test};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// A request that the worker performs; an `answered` event with this id carries the reply.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ask {
    id: u64,
    request: Map<String, Value>,
}

/// Takes a reply, as JSON.
pub type Deliver = Arc<dyn Fn(&Engine, String) + Send + Sync>;

/// The operation that a request names. The worker reports an unknown name too, so that all errors of `ask` arrive alike.
type Asked = Result<(&'static Op, Fields), Refusal>;

impl Engine {
    /// Performs a request on the editor's main thread. Never panics.
    pub fn call(&self, request: &str) -> String {
        match serde_json::from_str(request) {
            Ok(request) => self.call_parsed(request),
            Err(_) => text(Err(Refusal::BadRequest("the request must be a JSON object".into()))),
        }
    }

    /// The same for a request that is parsed already.
    pub fn call_parsed(&self, request: Map<String, Value>) -> String {
        crate::environ::capture();
        crate::process::prepare();
        let answer = self.respond(find(request));
        self.release_drives();
        answer
    }

    /// Takes at most `max` events, as a JSON array.
    pub fn poll(&self, max: usize) -> String {
        format!("[{}]", self.queue.poll(max).join(","))
    }

    /// Writes a byte to `fd`, the write end of a pipe, while events wait.
    pub fn attach(&self, fd: i32) -> std::io::Result<()> {
        self.queue.attach(fd)
    }

    /// Stops writing to the pipe.
    pub fn detach(&self) {
        self.queue.detach();
    }

    /// The reply as JSON, on any thread.
    fn respond(&self, asked: Asked) -> String {
        let answer = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| self.perform(asked)));
        text(answer.unwrap_or_else(|panic| Err(Refusal::of_panic(&*panic))))
    }

    fn perform(&self, asked: Asked) -> Result<Reply, Refusal> {
        let (op, fields) = asked?;
        if let Some(what) = op.what_for_humans() {
            nested::refuse(self, what, fields.root(), caller::peer().as_ref())?;
        }
        match op.run {
            Run::Now(run) => run(self, fields),
            Run::Later => self.ask(fields.read()?),
        }
    }

    /// Performs a request of another process in its lane: what is quick at once, the rest on the worker.
    pub fn request(
        &self,
        request: Map<String, Value>,
        peer: Peer,
        settings: Option<CallerSettings>,
        deliver: Deliver,
    ) {
        let asked = find(request);
        if matches!(&asked, Ok((op, _)) if op.is_only_called()) {
            return deliver(self, text(Err(only_called())));
        }
        let quick = matches!(&asked, Ok((op, _)) if op.lane == Lane::Main);
        let work = move |engine: &Engine, asked| caller::on_behalf(peer, settings, || engine.respond(asked));
        if quick {
            let answer = work(self, asked);
            deliver(self, answer);
            return self.release_drives();
        }
        if let Err(refusal) = self.hand_over(asked, work, deliver.clone()) {
            deliver(self, text(Err(refusal)));
        }
    }

    /// Whether a peer may do `what`, which only humans do. The error is the answer to it.
    pub fn may_drive(&self, peer: &Peer, what: &str) -> Result<(), Value> {
        nested::refuse_peer(what, peer).map_err(|refusal| refusal.json())
    }

    /// Whether this process is inside of a run.
    pub fn is_nested(&self) -> bool {
        nested::is_nested()
    }

    /// Hands a request of this process to the worker, from any thread. An `answered` event with this id brings the
    /// reply, even where there is no worker.
    pub fn ask_from_thread(&self, id: u64, request: Map<String, Value>) {
        if let Err(refusal) = self.ask(Ask { id, request }) {
            self.queue.push(json!({ "type": "answered", "id": id, "answer": refusal.json() }));
        }
    }

    /// Hands a request of this process to the worker.
    fn ask(&self, Ask { id, request }: Ask) -> Result<Reply, Refusal> {
        let asked = find(request);
        if matches!(&asked, Ok((op, _)) if op.is_only_called()) {
            return Err(only_called());
        }
        let deliver = Arc::new(move |engine: &Engine, answer: String| {
            let event = format!("{{\"type\":\"answered\",\"id\":{id},\"answer\":{answer}}}");
            engine.queue.push_text(None, event.into());
        });
        self.hand_over(asked, Self::respond, deliver)?;
        Ok(Reply::Value(json!({})))
    }

    fn hand_over(
        &self,
        asked: Asked,
        work: impl FnOnce(&Engine, Asked) -> String + Send + 'static,
        deliver: Deliver,
    ) -> Result<(), Refusal> {
        let op = asked.as_ref().ok().map(|(op, _)| *op);
        let ends = op.is_some_and(|op| op.on_exit == OnExit::Ends);
        let decided = op.is_some_and(|op| op.on_exit != OnExit::Forgotten);
        if ends {
            // Ending a run must not wait for an active file comparison.
            self.cancel.set(true);
        }
        let engine = self.me.clone();
        let job = move || {
            let Some(engine) = engine.upgrade() else { return };
            if ends && !engine.is_exiting() {
                engine.cancel.set(false);
            }
            if engine.is_exiting() && !decided {
                return;
            }
            let answer = work(&engine, asked);
            deliver(&engine, answer);
            // The answer must arrive before the first event of a run that the request has started.
            engine.release_drives();
        };
        self.worker.send(Box::new(job)).map_err(Refusal::NoThread)
    }
}

fn only_called() -> Refusal {
    let names = ops::only_called().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(" and ");
    Refusal::BadRequest(format!("{names} must be called directly, not through \"ask\""))
}

/// The operation that a request names.
fn find(mut request: Map<String, Value>) -> Asked {
    let Some(Value::String(name)) = request.remove("op") else {
        return Err(Refusal::BadRequest("the request lacks \"op\"".into()));
    };
    let test = Some(&panic_test::OP).filter(|op| op.name == name && panic_test::allowed());
    match test.or_else(|| ops::OPS.iter().find(|op| op.name == name)) {
        Some(op) => Ok((op, Fields::new(op.name, request))),
        None => {
            let hint = crate::suggest::did_you_mean(&name, ops::OPS.iter().map(|op| op.name));
            Err(Refusal::UnknownOp { op: name.chars().take(100).collect(), hint })
        }
    }
}

fn text(answer: Result<Reply, Refusal>) -> String {
    match answer {
        Ok(Reply::Value(value)) => format!("{{\"ok\":{value}}}"),
        Ok(Reply::Text(text)) => format!("{{\"ok\":{text}}}"),
        Err(refusal) => refusal.json().to_string(),
    }
}
