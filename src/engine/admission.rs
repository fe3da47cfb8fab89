//! Whether a run on disk may be taken up at all: one that is ours and whole is; what somebody else's files claim, and
//! what has lost records, needs a human's yes first.

use super::questions::{Answers, Choice};
use super::{Engine, Refusal, trusted};
use crate::config::Trust;
use crate::driver::open::Opened;
use crate::driver::start::Admission;
use crate::run::log::count;
use crate::run::state::{Done, Step};
use serde_json::json;
use std::path::Path;

/// The code of the refusal of a run that is not ours.
pub const FOREIGN: &str = "foreign-run";

/// Judges a run that a verb is about to take up. Without answers the verb only ends it.
pub fn admit(
    engine: &Engine,
    root: &Path,
    opened: &Opened,
    answers: Option<&Answers>,
) -> Result<Admission, Refusal> {
    let name = opened.run.plan.name();
    if !opened.contents.ours {
        let always = engine.config().trust == Trust::Always;
        if always || answers.is_some_and(|answers| answers.has(Choice::Adopt)) {
            return Ok(Admission::Adopted);
        }
        return Err(foreign(engine, root, opened));
    }
    match opened.contents.damaged {
        Some(damage) if answers.is_some_and(|answers| !answers.has(Choice::Repair)) => {
            let lost = lost(opened);
            let message = format!(
                "the journal of {name} is damaged at byte {} (line {}): {}; the whole journal is kept when you continue \
                 without what is lost (answer=repair)",
                damage.offset,
                damage.line,
                lost.join(", ")
            );
            Err(Refusal::with(
                "damaged-journal",
                message,
                json!({ "offset": damage.offset, "differences": lost }),
            ))
        }
        Some(_) => Ok(Admission::Repaired),
        None => declaration_kept(opened, answers).map(|()| Admission::Whole),
    }
}

/// Asks about a kept declaration that is not what the journal says was kept: what the run would do is not known then.
fn declaration_kept(opened: &Opened, answers: Option<&Answers>) -> Result<(), Refusal> {
    let told = |answers: &Answers| answers.has(Choice::Old) || answers.has(Choice::New);
    if !opened.changed || answers.is_none_or(told) {
        return Ok(());
    }
    let name = opened.run.plan.name();
    let message = format!(
        "the copy of the declaration that this run of {name} kept, \"{}\", was changed: continue with the changed copy \
         (answer=old), or with the superpower as it is now (answer=new)?",
        opened.declaration
    );
    let differences = json!([format!("{} is not what was kept when the run started", opened.declaration)]);
    Err(Refusal::with("declaration-changed", message, json!({ "differences": differences })))
}

/// What is known of the loss: where the run stands without it.
fn lost(opened: &Opened) -> Vec<String> {
    let run = &opened.run;
    vec![
        format!("everything after {} is lost", run.updated_at.format("%Y-%m-%d %H:%M:%S UTC")),
        format!(
            "the run would continue at stage {}/{}, and may ask or do again what came later",
            run.current_position(),
            run.plan.total()
        ),
    ]
}

fn foreign(engine: &Engine, root: &Path, opened: &Opened) -> Refusal {
    let name = opened.run.plan.name();
    let claim = claim(opened);
    let message = format!(
        "this run of {name} was not started by you on this machine, or by an older version: its files say that {}. Look at \
         what it would do with :Superpower resume in the editor; headless, answer=adopt makes it yours; :Superpower cancel \
         files it away",
        claim.join(", ")
    );
    let mut data = json!({ "claim": claim, "name": name, "run_id": opened.run.run_id });
    let claimed = format!("{}: so its own files say", claim.join(", "));
    if let Some((digest, sheet)) = trusted::sheet_of(engine, root, opened, claimed) {
        data["digest"] = json!(digest);
        data["sheet"] = sheet;
        data["answer"] = json!("adopt");
    }
    Refusal::with(FOREIGN, message, data)
}

/// What the files of the run say has happened.
fn claim(opened: &Opened) -> Vec<String> {
    let run = &opened.run;
    let done = |stage: usize| matches!(run.stages[stage].step, Step::Done(_));
    let passed = (0..run.plan.total()).take_while(|&stage| done(stage)).count();
    let gates =
        (0..passed).filter(|&stage| matches!(run.stages[stage].step, Step::Done(Done::Approved))).count();
    let mut claim = vec![if passed == 0 {
        "no stage has run".to_owned()
    } else {
        format!("{} of {} count as run", count(passed, "stage"), run.plan.total())
    }];
    if gates > 0 {
        claim.push(format!("{} as passed", count(gates, "gate")));
    }
    claim
}

/// Whether a refusal says that a run is not ours.
pub fn is_foreign(refusal: &Refusal) -> bool {
    refusal.code == FOREIGN
}
