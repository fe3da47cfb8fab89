//! Operations that show: status, review, diff, output, runs, why, health.

use super::declarations::Root;
use super::identify::identified;
use super::ops::Reply;
use super::refusal::StageReference;
use super::{Engine, PROTOCOL, Refusal, which};
use crate::driver::open::Opened;
use crate::driver::{checkpoint_writer, gate_review, unwritten};
use crate::harness::{Need, needs, resolve};
use crate::plan::Plan;
use crate::run::event::Decision;
use crate::run::snapshot::snapshot;
use crate::run::state::{Done, Reason, Step, gate_id};
use crate::store::lease;
use crate::terminal::visible;
use chrono::Utc;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

type Answer = Result<Value, Refusal>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfRun {
    root: PathBuf,
    run_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfFile {
    root: PathBuf,
    run_id: Option<String>,
    path: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Output {
    root: PathBuf,
    run_id: Option<String>,
    stage: usize,
    what: Part,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Part {
    Output,
    Prompt,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Why {
    root: PathBuf,
    run_id: Option<String>,
    stage: Option<Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Health {
    root: Option<PathBuf>,
}

/// The run that this editor drives, else the one that `squad.json` names, as the disk has it. Null for none.
pub fn status(engine: &Engine, request: &OfRun) -> Result<Reply, Refusal> {
    let root = &request.root;
    let asked = request.run_id.as_deref().map(|given| identified(root, given)).transpose()?;
    let is_asked = |run_id: &String| asked.as_ref().is_none_or(|asked| asked == run_id);
    if let Some(drive) = engine.drive(root).filter(|drive| !drive.is_over() && is_asked(&drive.run_id)) {
        return Ok(Reply::Text(drive.shared.text()));
    }
    match opened(engine, root, asked.as_deref()) {
        Ok(opened) => {
            if lease::holder(root).is_none() {
                unwritten::look(root, &engine.unwritten, || engine.host());
            }
            let waiting = engine.unwritten.waiting(root, &opened.run.run_id);
            let mut picture = view(root, Arc::unwrap_or_clone(opened));
            picture["checkpoint_waiting"] = json!(waiting);
            Ok(Reply::Value(picture))
        }
        Err(refusal) if refusal.is_nothing() => Ok(Reply::Value(Value::Null)),
        Err(refusal) => Err(refusal),
    }
}

fn view(root: &Path, mut opened: Opened) -> Value {
    let driver = lease::holder(root);
    if !lease::drives(driver.as_ref(), &opened.run.run_id) {
        // Whoever resumes it will write so.
        opened.interrupt();
    }
    let mut picture = snapshot(&opened.run, Utc::now());
    if let Some(unsound) = which::unsound(&opened) {
        let words = unsound.to_string();
        // Whatever it was doing, it waits for a human to say what is true.
        picture["state"] = json!("paused");
        picture["reason"] = json!(unsound.word());
        picture["detail"] = json!(words);
        picture["summary"] = json!(words);
        picture["gate"] = Value::Null;
    }
    picture["root"] = json!(root);
    picture["ours"] = json!(false);
    picture["live"] = Value::Null;
    picture["driver"] = json!(driver.map(|holder| json!({ "pid": holder.map(|it| it.pid) })));
    picture
}

/// The run asked for, or the one that is shown without asking.
fn opened(engine: &Engine, root: &Path, run_id: Option<&str>) -> Result<Arc<Opened>, Refusal> {
    let run_id = run_id.map_or_else(|| which::shown(engine, root), |given| identified(root, given))?;
    Ok(engine.readings.open(root, &run_id, &engine.keys())?)
}

/// What a person at the open gate has to see.
pub fn review(engine: &Engine, request: &OfRun) -> Answer {
    let opened = opened(engine, &request.root, request.run_id.as_deref())?;
    let run = &opened.run;
    let Some((stage, visit)) = run.open_gate() else {
        return Err(Refusal::NoGate(String::new()));
    };
    let gate = gate_id(stage, visit);
    // What could not be listed when the gate opened may be by now.
    let host = engine.host();
    let looks = host.looks(&engine.hurry, &request.root);
    let shown =
        engine.last_look(run, stage, visit).and_then(|(shown, _)| looks.again(&opened.dir, &gate, &shown));
    let review = shown.unwrap_or_else(|| {
        let (review, shown) = looks.make(&opened.dir, run, stage, looks.compare(run));
        if let Some(shown) = shown {
            engine.remember_look(run, stage, visit, shown);
        }
        review
    });
    let reporter = reporter(&opened, stage);
    let message = match reporter {
        None if run.stages[stage].by_hand => "The action of this stage was skipped by hand.".into(),
        None => String::new(),
        Some(stage) => run.result(stage),
    };
    Ok(json!({
        "run_id": run.run_id, "superpower": run.plan.name(), "gate": gate, "stage": stage + 1,
        "total": run.plan.total(), "label": run.label(stage),
        "from": reporter.map(|stage| stage + 1),
        "actor": reporter.map(|stage| run.plan.actor(stage).1),
        "worked_ms": reporter.map(|stage| run.stages[stage].worked_ms),
        "message": message,
        "files": review.files, "note": review.note,
        "trust": super::trusted::at_gate(engine, &request.root, &opened),
    }))
}

/// The stage whose work the gate is about: its own action, else the nearest earlier action that ran.
fn reporter(opened: &Opened, gate: usize) -> Option<usize> {
    let run = &opened.run;
    if run.stages[gate].by_hand {
        return None;
    }
    if run.plan.acts(gate) && run.stages[gate].result.is_some() {
        return Some(gate);
    }
    run.action_before(gate)
}

/// A file as of the last approval.
pub fn diff(engine: &Engine, request: &OfFile) -> Answer {
    let opened = opened(engine, &request.root, request.run_id.as_deref())?;
    let host = engine.host();
    let path = gate_review::real(&request.root, &request.path, &host.secrets);
    let before =
        host.looks(&engine.hurry, &request.root).before(&opened.run, &path).map_err(Refusal::NoDiff)?;
    Ok(json!({ "before": before, "after_path": request.root.join(path) }))
}

/// The file with a stage's newest output or prompt.
pub fn output(engine: &Engine, request: &Output) -> Answer {
    let opened = opened(engine, &request.root, request.run_id.as_deref())?;
    let run = &opened.run;
    let stage = request.stage.checked_sub(1).filter(|&stage| stage < run.plan.total());
    let stage = stage.ok_or(Refusal::UnknownStage(StageReference::Place(request.stage)))?;
    let none = Refusal::NoOutput { stage: request.stage, acts: run.plan.acts(stage) };
    let launch = run.stages[stage].launch.ok_or(none)?;
    let file = match request.what {
        Part::Output => "output.log",
        Part::Prompt => "prompt.md",
    };
    Ok(json!({ "path": opened.dir.attempt(launch, stage).join(file) }))
}

/// The lines of one run's log.
pub fn log(engine: &Engine, request: &OfRun) -> Answer {
    let run_id = match &request.run_id {
        Some(given) => identified(&request.root, given)?,
        None => which::shown(engine, &request.root)?,
    };
    let host = engine.host();
    let lines = crate::driver::open::log(&request.root, &run_id, &engine.keys())?;
    let shown = |line: &String| format!("[superpower] {}", visible(&host.secrets.mask(line)));
    Ok(json!({ "run_id": run_id, "lines": lines.iter().map(shown).collect::<Vec<_>>() }))
}

/// Every run, newest first.
pub fn runs(engine: &Engine, request: &Root) -> Answer {
    Ok(json!(which::summaries(engine, &request.root)))
}

/// What a stage waits for, or why it is what it is.
pub fn why(engine: &Engine, request: &Why) -> Answer {
    let opened = opened(engine, &request.root, request.run_id.as_deref())?;
    let run = &opened.run;
    let reference = match &request.stage {
        Some(Value::String(text)) => Some(text.clone()),
        Some(Value::Number(number)) => Some(number.to_string()),
        _ => None,
    };
    let stage = match reference {
        Some(reference) => {
            run.plan.find(&reference).ok_or(Refusal::UnknownStage(StageReference::Text(reference)))?
        }
        None => run.current().unwrap_or(run.plan.total() - 1),
    };
    Ok(json!({ "lines": reasons(&request.root, &opened, stage), "stage": stage + 1 }))
}

fn reasons(root: &Path, opened: &Opened, stage: usize) -> Vec<String> {
    let run = &opened.run;
    let state = &run.stages[stage];
    let plan: &Plan = &run.plan;
    let mut lines = vec![format!("stage {}/{}: {}", stage + 1, plan.total(), run.label(stage))];
    let key = checkpoint_writer::keys(plan).swap_remove(stage);
    match plan.when(stage) {
        None => lines.push("it has no condition: it always runs".into()),
        Some(when) => {
            lines.push(format!("when: {when}"));
            for name in crate::condition::facts_in(when) {
                lines.push(match run.facts.get(name) {
                    Some(fact) => format!(
                        "  {name} = {}: {}, asked by stage {}",
                        fact.value,
                        fact.reason,
                        fact.stage + 1
                    ),
                    None => format!("  {name}: not asked yet; decided when the run gets here"),
                });
            }
        }
    }
    lines.push(match &state.step {
        // Nothing moves any more: what it was doing is told as what it was.
        Step::Waiting | Step::Deciding if run.phase.ended() => "the run ended before its turn came".into(),
        Step::Ready { .. } | Step::Working { .. } | Step::Resting { .. } | Step::Held { .. }
            if run.phase.ended() =>
        {
            "the run ended before it was through".into()
        }
        Step::AtGate if run.phase.ended() => "the run ended at its gate".into(),
        Step::Waiting => "it waits for its turn".into(),
        Step::Deciding => "its condition is being decided".into(),
        Step::Ready { .. } => "it was interrupted, and goes on with the run".into(),
        Step::Working { .. } if state.in_hand() => {
            "it is done by hand, and waits for your result: :Superpower gate".into()
        }
        Step::Working { .. } => {
            format!("it works: attempt {}/{}", state.spent + 1, plan.max_attempts(stage))
        }
        Step::Resting { until, why, .. } => {
            format!("it waits until {}: {why}", crate::run::log::clock(*until, Utc::now()))
        }
        Step::Held { .. } if run.phase.reason() == Some(Reason::Failed) => {
            "the run is paused because it failed".into()
        }
        Step::Held { why } => format!("the run is paused because of it: {why}"),
        Step::AtGate => "its gate is open: :Superpower gate".into(),
        Step::Done(Done::Skipped { why }) => format!("it was skipped: {why}"),
        Step::Done(Done::SkippedByHand) => "its action was skipped by hand".into(),
        Step::Done(Done::Approved) => "it was approved".into(),
        Step::Done(Done::Passed) => "it passed".into(),
        Step::Done(Done::Adopted) => "it counts as run: the run was taken over from another tool".into(),
    });
    let (place, _) = checkpoint_writer::place(root, &opened.dir, run);
    let record = crate::checkpoint::store::Store::new(place).read();
    let rows = record.map(|record| crate::checkpoint::lines(&record)).unwrap_or_default();
    let ours = |line: &&String| key.as_ref().is_some_and(|key| line.split(' ').next() == Some(key));
    lines.extend(rows.iter().filter(ours).map(|line| format!("  checkpoint {line}")));
    for same in state.failures.chunk_by(|one, next| one.shown() == next.shown()) {
        let times = if same.len() > 1 { format!(" {} times", same.len()) } else { String::new() };
        lines.push(format!("  failed{times}: {}", same[0].shown()));
    }
    for decision in run.decisions.iter().filter(|decision| decision.stage == stage) {
        let word = match decision.decision {
            Decision::Approve => "approved",
            Decision::Changes => "changes requested",
            Decision::Reject => "rejected",
        };
        let line = format!(
            "  visit {}: {word} by {} at {}",
            decision.visit,
            decision.by,
            decision.at.format("%Y-%m-%d %H:%M UTC")
        );
        lines.push(crate::run::log::with_comment(line, &decision.comment));
    }
    lines
}

/// What `:checkhealth superpower` needs from here.
pub fn health(engine: &Engine, request: &Health) -> Answer {
    let host = engine.host();
    let harnesses: Vec<Value> = host
        .harnesses
        .named
        .keys()
        .map(|name| match resolve(name, &host.harnesses, request.root.as_deref()) {
            Ok(resolved) => {
                let need = |need: &Need| json!({ "since": need.version(), "otherwise": need.otherwise });
                let needs: Vec<Value> = needs(&resolved.kind).iter().map(need).collect();
                json!({ "name": name, "program": resolved.program, "needs": needs })
            }
            Err(missing) => json!({ "name": name, "program": null, "message": missing.message }),
        })
        .collect();
    let auto = resolve("auto", &host.harnesses, request.root.as_deref()).ok().map(|resolved| resolved.name);
    let mut answer = json!({
        "version": env!("CARGO_PKG_VERSION"), "protocol": PROTOCOL, "harnesses": harnesses, "auto": auto,
    });
    if let Some(root) = &request.root {
        let index = super::loaded::index(engine, root);
        answer["project"] = json!({
            "superpowers": index.superpowers.len(), "agents": index.agents.len(), "skills": index.skills.len(),
            "left": index.left.lines(),
            "unfinished": which::summaries(engine, root).into_iter().filter(|summary| !summary.over()).collect::<Vec<_>>(),
            "driver": lease::holder(root).map(|holder| json!(holder)),
            "lock": lease::path(root), "log": crate::store::log::path(root),
        });
    }
    Ok(answer)
}
