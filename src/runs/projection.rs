//! Writes `squad.json` and the run's summary, which are derived from the journal and need no flush of their own.

use crate::declaration::model::{Input, InputKind};
use crate::plan::Inputs;
use crate::process::Secrets;
use crate::run::snapshot;
use crate::run::state::Run;
use crate::store::keyring::Keyring;
use crate::store::squad::{self, Squad};
use crate::store::summary::{self, Summary};
use std::io;
use std::path::{Path, PathBuf};

/// Writes both files. Returns where an unreadable `squad.json` was moved to, if there was one.
pub fn write(root: &Path, run: &Run, secrets: &Secrets, keys: &Keyring) -> io::Result<Option<PathBuf>> {
    let reason = run.phase.reason().map(|reason| reason.word());
    let squad = Squad {
        active_superpower: run.plan.name().to_owned(),
        current_stage: run.current_position(),
        status: run.phase.word().to_owned(),
        inputs: masked(&run.plan.inputs, secrets),
        unfit_inputs: Default::default(),
        run_id: Some(run.run_id.clone()),
    };
    let aside = squad::write(root, &squad, reason, run.updated_at)?;
    summary::write(root, &summary(run, secrets), keys)?;
    Ok(aside)
}

/// The message about a file that was moved aside.
pub fn moved(aside: &Path) -> String {
    format!("\"squad.json\" was unreadable and was moved to \"{}\"", aside.display())
}

fn masked(inputs: &Inputs, secrets: &Secrets) -> Inputs {
    inputs.iter().map(|(name, value)| (name.clone(), secrets.mask(value).into_owned())).collect()
}

/// Maximum length of the input that identifies a run in lists, in characters.
const MAX_ABOUT: usize = 100;

/// The first required text input, or else the first input with a value.
fn about(run: &Run, secrets: &Secrets) -> String {
    let declared = run.plan.declaration.inputs.iter();
    let values = declared.filter_map(|input| Some((input, run.plan.inputs.get(&input.name.value)?)));
    let said: Vec<_> = values.filter(|(_, value)| !value.trim().is_empty()).collect();
    let matters = |input: &Input| input.required && matches!(input.kind, InputKind::String);
    let most = said.iter().find(|(input, _)| matters(input)).or(said.first());
    let line = most.map(|(_, value)| crate::plan::one_line(&secrets.mask(value))).unwrap_or_default();
    line.chars().take(MAX_ABOUT).collect()
}

pub fn summary(run: &Run, secrets: &Secrets) -> Summary {
    Summary {
        run_id: run.run_id.clone(),
        superpower: run.plan.name().to_owned(),
        state: run.phase.word().to_owned(),
        reason: run.phase.reason().map(|reason| reason.word().to_owned()),
        current_stage: run.current_position(),
        total: run.plan.total(),
        started_at: run.started_at.timestamp_millis(),
        updated_at: run.updated_at.timestamp_millis(),
        summary: snapshot::summary(run),
        about: about(run, secrets),
    }
}
