//! The operations of the door, by name.

use super::{
    Engine, Refusal, asks, assist, checks, declarations, documents, drill, kept, preview, schema, verbs,
    views,
};
use crate::config::Config;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::time::Duration;

type Answer = Result<Value, Refusal>;

/// Every operation that Lua may call.
pub const NAMES: &[&str] = &[
    "answer",
    "ask",
    "assist",
    "cancel",
    "check",
    "check-all",
    "configure",
    "decide",
    "diff",
    "document",
    "document-closed",
    "document-part",
    "health",
    "inputs",
    "left",
    "list",
    "log",
    "output",
    "pause",
    "plan",
    "project",
    "project-renew",
    "read-file",
    "resume",
    "retry",
    "review",
    "run",
    "runs",
    "schema",
    "skip",
    "status",
    "stop",
    "submit",
    "trust",
    "trust-grant",
    "why",
];

/// What an operation answers.
pub enum Reply {
    /// Data.
    Value(Value),
    /// Data that is written already.
    Text(String),
}

/// Performs one.
pub fn perform(engine: &Engine, op: &str, fields: Map<String, Value>) -> Result<Reply, Refusal> {
    match op {
        "status" => views::status(engine, &read(op, fields)?),
        _ => answer(engine, op, fields).map(Reply::Value),
    }
}

fn answer(engine: &Engine, op: &str, fields: Map<String, Value>) -> Answer {
    match op {
        "configure" => {
            let Configure { config } = read(op, fields)?;
            engine.configure(config);
            Ok(json!({}))
        }
        "project" => declarations::project(&read(op, fields)?),
        "left" => declarations::left(engine, &read(op, fields)?),
        "list" => declarations::list(engine, &read(op, fields)?),
        "check" => checks::check(engine, &read(op, fields)?),
        "check-all" => checks::check_all(engine, &read(op, fields)?),
        "document" => documents::document(engine, read(op, fields)?),
        "document-part" => documents::part(engine, read(op, fields)?),
        "document-closed" => documents::closed(engine, &read(op, fields)?),
        "assist" => assist::assist(engine, &read(op, fields)?),
        "project-renew" => assist::renew(engine, &read(op, fields)?),
        "inputs" => declarations::inputs(engine, &read(op, fields)?),
        "plan" => preview::plan(engine, &read(op, fields)?),
        "trust" => declarations::trust(engine, &read(op, fields)?),
        "trust-grant" => declarations::trust_grant(engine, &read(op, fields)?),
        "run" => verbs::run(engine, read(op, fields)?),
        "resume" => verbs::resume(engine, read(op, fields)?),
        "decide" => verbs::decide(engine, read(op, fields)?),
        "retry" => verbs::retry(engine, read(op, fields)?),
        "skip" => verbs::skip(engine, read(op, fields)?),
        "pause" => verbs::pause(engine, read(op, fields)?),
        "cancel" => verbs::cancel(engine, read(op, fields)?),
        "ask" => asks::ask(engine, read(op, fields)?),
        "answer" => verbs::answer(engine, read(op, fields)?),
        "submit" => verbs::submit(engine, read(op, fields)?),
        "review" => views::review(engine, &read(op, fields)?),
        "diff" => views::diff(engine, &read(op, fields)?),
        "output" => views::output(engine, &read(op, fields)?),
        "log" => views::log(engine, &read(op, fields)?),
        "read-file" => kept::read_file(&read(op, fields)?),
        "runs" => views::runs(engine, &read(op, fields)?),
        "why" => views::why(engine, &read(op, fields)?),
        "schema" => Ok(schema::schema()),
        "health" => views::health(engine, &read(op, fields)?),
        "stop" => {
            let Stop { grace_ms } = read(op, fields)?;
            Ok(json!({ "unwritten": engine.stop(Duration::from_millis(grace_ms)) }))
        }
        "panic" if drill::allowed() => {
            drill::panic(engine.queue(), fields.get("where").and_then(Value::as_str).unwrap_or("call"));
            Ok(json!({}))
        }
        _ => {
            let hint = crate::suggest::did_you_mean(op, NAMES.iter().copied());
            let shown: String = op.chars().take(100).collect();
            Err(Refusal::UnknownOp { op: shown, hint })
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Configure {
    config: Config,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stop {
    #[serde(default = "grace")]
    grace_ms: u64,
}

fn grace() -> u64 {
    500
}

fn read<T: DeserializeOwned>(op: &str, fields: Map<String, Value>) -> Result<T, Refusal> {
    serde_json::from_value(Value::Object(fields))
        .map_err(|error| Refusal::BadRequest(format!("{op}: {}", error.to_string().replace('`', "\""))))
}
