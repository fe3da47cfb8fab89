//! Decides whether a run on disk may be continued. A run of ours with a whole journal may; a foreign run and a damaged
//! journal need the user's agreement first.

use super::answers::{Answers, Choice};
use super::trust_question;
use crate::config::Trust;
use crate::driver::start::Admission;
use crate::engine::core::Engine;
use crate::engine::refusal::Refusal;
use crate::engine::refusal::foreign_run::ForeignRun;
use crate::run::log::count;
use crate::run::state::{Done, Step};
use crate::runs::open::Opened;
use crate::runs::replay::digest;
use crate::store::journal::Damage;
use std::path::Path;

/// Maximum length of a text in the claim of a foreign run, in characters.
const MAX_TEXT: usize = 200;

#[derive(Clone, Copy)]
pub enum Purpose<'a> {
    /// To drive it or decide about it, with these answers.
    Continue(&'a Answers),
    Pause,
    End,
}

/// Checks a run that a verb is about to act on.
pub fn admit(engine: &Engine, root: &Path, opened: &Opened, purpose: Purpose) -> Result<Admission, Refusal> {
    let answers = if let Purpose::Continue(answers) = purpose { Some(answers) } else { None };
    if !opened.contents.ours {
        // Pausing or cancelling does not make a foreign run ours.
        let Some(answers) = answers else { return Err(foreign(engine, root, opened)) };
        let always = engine.config().trust == Trust::Always;
        let agreed = || {
            answers.has(Choice::Adopt)
                && engine.claims.is_as_shown(root, &opened.run.run_id, &digest_of(opened))
        };
        // The claim is shown on no later sheet, so the user must agree to the superpower first.
        if always || agreed() && trust_question::is_agreed(engine, root, opened, answers)? {
            return Ok(Admission::Adopted);
        }
        return Err(foreign(engine, root, opened));
    }
    if let Some(damage) = opened.contents.damaged
        && !matches!(purpose, Purpose::End)
        && answers.is_none_or(|answers| !answers.has(Choice::Repair))
    {
        let superpower = opened.run.plan.name().to_owned();
        return Err(Refusal::DamagedJournal { superpower, damage, lost: lost(opened, damage) });
    }
    if let Some(answers) = answers {
        declaration_kept(opened, answers)?;
    }
    Ok(if opened.contents.damaged.is_some() { Admission::Repaired } else { Admission::Whole })
}

/// Asks about a declaration that differs from the digest in the journal, because what the run would do is unknown then.
fn declaration_kept(opened: &Opened, answers: &Answers) -> Result<(), Refusal> {
    if !opened.changed || answers.has(Choice::Old) || answers.has(Choice::New) {
        return Ok(());
    }
    let (superpower, copy) = (opened.run.plan.name().to_owned(), opened.declaration.clone());
    Err(Refusal::KeptCopyChanged { superpower, copy })
}

/// What is known about the lost part: where the run would continue.
fn lost(opened: &Opened, damage: Damage) -> Vec<String> {
    let run = &opened.run;
    let last = run.updated_at.format("%Y-%m-%d %H:%M:%S UTC");
    vec![
        if damage.known {
            format!("everything after {last} is lost")
        } else {
            format!("anything after {last} may be lost: the journal's original end is unknown")
        },
        format!(
            "the run would continue at stage {}/{}, and may ask or do later steps again",
            run.current_position(),
            run.plan.total()
        ),
    ]
}

fn foreign(engine: &Engine, root: &Path, opened: &Opened) -> Refusal {
    engine.claims.remember(root, &opened.run.run_id, digest_of(opened));
    let claim = claim(opened);
    let claimed = format!("{}: so say its own files", claim.join(", "));
    let sheet = trust_question::sheet_of(engine, root, opened, claimed);
    let (name, run_id) = (opened.run.plan.name().to_owned(), opened.run.run_id.clone());
    Refusal::ForeignRun(Box::new(ForeignRun { name, run_id, claim, sheet }))
}

/// What the run's files claim has happened, and which texts they would pass on to later agents.
fn claim(opened: &Opened) -> Vec<String> {
    let run = &opened.run;
    let done: Vec<usize> =
        run.plan.order.iter().copied().filter(|&at| matches!(run.stages[at].step, Step::Done(_))).collect();
    let approved = |&&at: &&usize| matches!(run.stages[at].step, Step::Done(Done::Approved));
    let gates = done.iter().filter(approved).count();
    let mut claim = vec![if done.is_empty() {
        "no stage has run".to_owned()
    } else {
        format!("{} of {} count as run", count(done.len(), "stage"), run.plan.total())
    }];
    if gates > 0 {
        claim.push(format!("{} as passed", count(gates, "gate")));
    }
    let text = |text: &str| {
        let line = crate::plan::one_line(&crate::terminal::visible(text));
        let cut: String = line.chars().take(MAX_TEXT).collect();
        if cut.len() < line.len() { format!("\"{cut}…\"") } else { format!("\"{cut}\"") }
    };
    let inputs = run.plan.inputs.iter().filter(|(_, value)| !value.is_empty());
    claim.extend(inputs.map(|(name, value)| format!("the input {name} is {}", text(value))));
    let results = done.iter().map(|&at| (at, run.result(at))).filter(|(_, result)| !result.trim().is_empty());
    claim.extend(results.map(|(at, result)| format!("stage {} reported {}", at + 1, text(&result))));
    let comments = run.decisions.iter().filter(|decision| !decision.comment.is_empty());
    claim.extend(comments.map(|it| format!("gate {} has the comment {}", it.stage + 1, text(&it.comment))));
    claim
}

fn digest_of(opened: &Opened) -> String {
    digest(&serde_json::to_vec(&opened.contents.records).unwrap_or_default())
}
