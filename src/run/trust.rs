//! Trust that lapsed: what a stage would drive next was changed, and no gate asked about it.

use super::effect::Effect;
use super::log::place;
use super::refusal::Refusal;
use super::state::{Phase, Reason, Run, Step};
use super::walk::pause;
use chrono::{DateTime, Utc};

/// Pauses the run instead of a launch. No agent was started for it, and no attempt is spent.
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

/// Says to what the user agreed.
pub(super) fn granted(files: &[String], out: &mut Vec<Effect>) {
    out.push(Effect::Log(format!("TRUSTED  {}", files.join(", "))));
}

/// What has changed, for people.
pub fn changed(files: &[String]) -> String {
    if files.is_empty() {
        return "there is no longer an answer on record for what it runs".to_owned();
    }
    format!("changed since you trusted it: {}", files.join(", "))
}
