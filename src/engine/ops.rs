//! The table of operations: the name, the lane and the function of each. The schema and the lanes that Lua reads are
//! generated from it.

use super::core::Engine;
use super::editing::{assist, checks, declarations, documents, preview};
use super::op::{Fields, Lane, Op, Place, Reply};
use super::refusal::Refusal;
use super::verbs::{decide, replies, run, stop, trust};
use super::views::{health, output, read_file, review, schema, status, why};
use crate::config::Config;
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;

pub(super) const OPS: &[Op] = &[
    Op::main("answer", |engine, it| value(replies::answer(engine, it.read()?)))
        .for_humans("answer questions")
        .in_both(),
    Op::later("ask"),
    Op::main("assist", |engine, it| assist::assist(engine, &it.read()?)),
    Op::main("call-user", call_user),
    Op::worker("cancel", |engine, it| value(stop::cancel(engine, it.read()?)))
        .ended_on_exit()
        .for_humans("cancel runs")
        .by_driver(),
    Op::worker("check", |engine, it| value(checks::check(engine, &it.read()?))),
    Op::worker("check-all", |engine, it| value(checks::check_all(engine, &it.read()?))),
    Op::main("configure", configure),
    Op::worker("decide", |engine, it| value(decide::decide(engine, it.read()?)))
        .done_on_exit()
        .for_humans("decide at gates")
        .starts_driver(),
    Op::worker("diff", |engine, it| value(review::diff(engine, &it.read()?))).by_driver(),
    Op::main("document", |engine, it| value(documents::document(engine, it.read()?))),
    Op::main("document-closed", |engine, it| value(documents::closed(engine, &it.read()?))),
    Op::main("document-part", |engine, it| value(documents::part(engine, it.read()?))),
    Op::worker("driver-end", only_a_client).about_drivers(),
    Op::worker("drivers", only_a_client).about_drivers(),
    Op::worker("health", |engine, it| value(health::health(engine, &it.read()?))),
    Op::worker("inputs", |engine, it| value(declarations::inputs(engine, &it.read()?))),
    Op::worker("left", |engine, it| value(declarations::left(engine, &it.read()?))),
    Op::worker("list", |engine, it| value(declarations::list(engine, &it.read()?))),
    Op::worker("log", |engine, it| value(output::log(engine, &it.read()?))).by_driver(),
    Op::worker("output", |engine, it| value(output::output(engine, &it.read()?))).by_driver(),
    Op::worker("pause", |engine, it| value(stop::pause(engine, it.read()?))).done_on_exit().by_driver(),
    Op::worker("plan", |engine, it| value(preview::plan(engine, &it.read()?))),
    Op::main("give-up-look", |engine, it| Ok(Reply::Value(review::cancel(engine, &it.read()?)))).in_both(),
    Op::main("project", |_, it| value(declarations::project(&it.read()?))),
    Op::main("project-renew", |engine, it| value(assist::renew(engine, &it.read()?))),
    Op::worker("read-file", |_, it| value(read_file::read_file(&it.read()?))),
    Op::worker("resume", |engine, it| value(run::resume(engine, it.read()?)))
        .for_humans("resume runs")
        .starts_driver(),
    Op::worker("retry", |engine, it| value(decide::retry(engine, it.read()?)))
        .done_on_exit()
        .for_humans("retry")
        .starts_driver(),
    Op::worker("review", |engine, it| value(review::review(engine, &it.read()?))).starts_driver(),
    Op::worker("run", |engine, it| value(run::run(engine, it.read()?)))
        .for_humans("start runs")
        .starts_driver(),
    Op::worker("runs", |engine, it| value(status::runs(engine, &it.read()?))).by_driver(),
    Op::main("scaffold", |_, it| value(declarations::scaffold(&it.read()?))),
    Op::main("schema", schema),
    Op::worker("skip", |engine, it| value(stop::skip(engine, it.read()?)))
        .done_on_exit()
        .for_humans("skip")
        .starts_driver(),
    Op::worker("status", |engine, it| status::status(engine, &it.read()?)).by_driver(),
    Op::main("stop", stop).only_called(),
    Op::worker("submit", |engine, it| value(replies::submit(engine, it.read()?)))
        .done_on_exit()
        .for_humans("hand in results")
        .by_driver(),
    Op::worker("trust", |engine, it| value(trust::trust(engine, &it.read()?))).starts_driver(),
    Op::worker("trust-grant", |engine, it| value(trust::trust_grant(engine, &it.read()?)))
        .for_humans("grant trust")
        .starts_driver(),
    Op::worker("why", |engine, it| value(why::why(engine, &it.read()?))).by_driver(),
];

/// The names and lanes of all operations.
pub fn lanes() -> impl Iterator<Item = (&'static str, Lane)> {
    OPS.iter().map(|op| (op.name, op.lane))
}

/// Which process performs an operation, and in which lane; `None` if there is no such operation.
pub fn place(name: &str) -> Option<(Place, Lane)> {
    OPS.iter().find(|op| op.name == name).map(|op| (op.place, op.lane))
}

/// Whether an operation writes down what a person decided, which an exit must not lose.
pub fn is_done_on_exit(name: &str) -> bool {
    OPS.iter().any(|op| op.name == name && op.on_exit != super::op::OnExit::Forgotten)
}

/// Names of operations that `ask` refuses.
pub(super) fn only_called() -> impl Iterator<Item = &'static str> {
    OPS.iter().filter(|op| op.is_only_called()).map(|op| op.name)
}

fn value(answer: Result<Value, Refusal>) -> Result<Reply, Refusal> {
    answer.map(Reply::Value)
}

fn schema(_: &Engine, _: Fields) -> Result<Reply, Refusal> {
    Ok(Reply::Value(schema::schema(lanes())))
}

fn only_a_client(_: &Engine, _: Fields) -> Result<Reply, Refusal> {
    Err(Refusal::BadRequest("only a client of drivers answers this".into()))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Configure {
    config: Config,
}

fn configure(engine: &Engine, fields: Fields) -> Result<Reply, Refusal> {
    let Configure { config } = fields.read()?;
    engine.configure(config);
    Ok(Reply::Value(json!({})))
}

/// Runs the user's command that calls them, for an editor that was told to call.
fn call_user(engine: &Engine, fields: Fields) -> Result<Reply, Refusal> {
    let words = fields.read()?;
    engine.attention.run(&engine.followers, &engine.config(), words);
    Ok(Reply::Value(json!({})))
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

/// Stops the engine when the editor exits; the only operation of the main lane that may be slow.
fn stop(engine: &Engine, fields: Fields) -> Result<Reply, Refusal> {
    let Stop { grace_ms } = fields.read()?;
    Ok(Reply::Value(json!({ "unwritten": engine.stop(Duration::from_millis(grace_ms)) })))
}

#[cfg(test)]
mod tests {
    use super::super::op::OnExit;
    use super::*;

    /// Whoever adds an operation decides whether it is one of these.
    #[test]
    fn only_humans_decide_drive_trust_and_finish() {
        let for_humans = OPS.iter().filter(|op| op.what_for_humans().is_some()).map(|op| op.name);
        let expected =
            ["answer", "cancel", "decide", "resume", "retry", "run", "skip", "submit", "trust-grant"];
        assert_eq!(for_humans.collect::<Vec<_>>(), expected);
        let written = OPS.iter().filter(|op| op.on_exit != OnExit::Forgotten);
        for op in written.filter(|op| op.name != "pause") {
            assert!(op.what_for_humans().is_some(), "{} is written down when the editor is left", op.name);
        }
    }
}
