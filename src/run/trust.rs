//! Pauses a run when files that a stage would run changed after the user trusted them.

use super::effect::Effect;
use super::log::place;
use super::refusal::Refusal;
use super::state::{Phase, Reason, Run, Step};
use super::walk::pause;
use chrono::{DateTime, Utc};

/// Pauses the run instead of a launch: no agent was started, and no attempt is spent.
pub(super) fn lapsed(
    run: &mut Run,
    launch: u32,
    resume: bool,
    files: &[String],
    at: DateTime<Utc>,
    out: &mut Vec<Effect>,
) -> Result<(), Refusal> {
    let working = |stage: &usize| matches!(run.stages[*stage].step, Step::Working { launch: current, .. } if current == launch);
    let running = run.phase == Phase::Running;
    let stage = run.current().filter(|stage| running && working(stage)).ok_or(Refusal::Stale)?;
    let state = &mut run.stages[stage];
    state.step = Step::Ready { resume };
    state.visit.launches = state.visit.launches.saturating_sub(1);
    out.push(Effect::Log(format!("TRUST  stage {}: {}", place(run, stage), changed(files))));
    pause(run, Reason::Trust, changed(files), at, out);
    Ok(())
}

/// Logs the files that the user agreed to.
pub(super) fn granted(files: &[String], out: &mut Vec<Effect>) {
    out.push(Effect::Log(format!("TRUSTED  {}", files.join(", "))));
}

/// The changed files, for people.
pub fn changed(files: &[String]) -> String {
    if files.is_empty() {
        return "your trust in what it runs is no longer on record".to_owned();
    }
    format!("changed since you trusted it: {}", files.join(", "))
}
