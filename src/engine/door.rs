//! The door: a request becomes an operation of the table, and what comes of it becomes text. It is total: an error is
//! data, and so is a panic.

use super::core::Engine;
use super::op::{Fields, Op, Reply, Run, WhenLeft};
use super::refusal::Refusal;
use super::{ops, panic_test};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// A request that is answered by an `answered` event with this id, from the worker.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ask {
    id: u64,
    request: Map<String, Value>,
}

/// What was asked, looked up: a name that is none is answered as late as everything else.
type Asked = Result<(&'static Op, Fields), Refusal>;

impl Engine {
    /// Answers a request, for the editor's main thread. Total: it never panics.
    pub fn call(&self, request: &str) -> String {
        crate::environ::capture();
        crate::process::prepare();
        let answer = match serde_json::from_str(request) {
            Ok(request) => self.respond(find(request)),
            Err(_) => text(Err(Refusal::BadRequest("a request is a JSON object".into()))),
        };
        self.set_going();
        answer
    }

    /// At most `max` events, as a JSON array.
    pub fn poll(&self, max: usize) -> String {
        format!("[{}]", self.queue.poll(max).join(","))
    }

    /// Rings on the write end of a pipe while events wait.
    pub fn attach(&self, fd: i32) -> std::io::Result<()> {
        self.queue.attach(fd)
    }

    /// Rings nobody any more.
    pub fn detach(&self) {
        self.queue.detach();
    }

    /// The answer, on any thread.
    fn respond(&self, asked: Asked) -> String {
        let answer = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| self.perform(asked)));
        text(answer.unwrap_or_else(|panic| Err(Refusal::of_panic(&*panic))))
    }

    fn perform(&self, asked: Asked) -> Result<Reply, Refusal> {
        let (op, fields) = asked?;
        match op.run {
            Run::Now(run) => run(self, fields),
            Run::Later => self.ask(fields.read()?),
        }
    }

    /// Takes a request for the worker; the answer comes later.
    fn ask(&self, Ask { id, request }: Ask) -> Result<Reply, Refusal> {
        let asked = find(request);
        let op = asked.as_ref().ok().map(|(op, _)| *op);
        if op.is_some_and(Op::is_only_called) {
            let names =
                ops::only_called().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(" and ");
            return Err(Refusal::BadRequest(format!("{names} are called, not asked")));
        }
        let ends = op.is_some_and(|op| op.when_left == WhenLeft::Ends);
        let decided = op.is_some_and(|op| op.when_left != WhenLeft::Forgotten);
        if ends {
            // A look at the files that is under way keeps nobody from that.
            self.cancel.set(true);
        }
        let engine = self.me.clone();
        let job = move || {
            let Some(engine) = engine.upgrade() else { return };
            if ends && !engine.is_leaving() {
                engine.cancel.set(false);
            }
            if engine.is_leaving() && !decided {
                return;
            }
            let answer = engine.respond(asked);
            let event = format!("{{\"type\":\"answered\",\"id\":{id},\"answer\":{answer}}}");
            engine.queue.push_text(None, event.into());
            // Whoever asked hears that a run began before the run itself is heard.
            engine.set_going();
        };
        self.worker.send(Box::new(job)).map_err(Refusal::NoThread)?;
        Ok(Reply::Value(json!({})))
    }
}

/// The operation that a request names.
fn find(mut request: Map<String, Value>) -> Asked {
    let Some(Value::String(name)) = request.remove("op") else {
        return Err(Refusal::BadRequest("the request has no \"op\"".into()));
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
