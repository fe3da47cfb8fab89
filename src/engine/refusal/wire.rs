//! A refusal as JSON: `{"err":{"code","message","data"?}}`. Codes are stable, in kebab-case.

use super::{Aside, Refusal};
use crate::driver::lock::StartError;
use crate::engine::editing::input_view::input_view;
use crate::plan::InputError;
use crate::run::machine;
use crate::runs::open_error::OpenError;
use crate::store::journal::JournalError;
use serde_json::{Value, json};

impl Refusal {
    /// The JSON that Lua gets.
    pub fn json(&self) -> Value {
        let mut err = json!({ "code": self.code(), "message": self.to_string() });
        let data = self.data();
        if !data.is_null() {
            err["data"] = data;
        }
        json!({ "err": err })
    }

    fn code(&self) -> &'static str {
        match self {
            Self::BadRequest(_) => "bad-request",
            Self::UnknownOp { .. } => "unknown-op",
            Self::NoThread(_) => "no-thread",
            Self::Panic(_) => "panic",
            Self::Nested { .. } => "nested",
            Self::NoProject(_) => "no-project",
            Self::UnknownSuperpower(_) => "unknown-superpower",
            Self::InvalidDeclaration { .. } => "invalid-declaration",
            Self::Inputs(error) => of_inputs(error),
            Self::InputsOfSquad { error, .. } => of_inputs(error),
            Self::NoHarness(_) | Self::ManualHeadless => "no-harness",
            Self::Untrusted(_) => "untrusted",
            Self::TooMuchToTrust(_) => "too-much-to-trust",
            Self::NoStateDir => "no-state-dir",
            Self::TrustNotKept(_) => "not-kept",
            Self::NothingToResume(_) => "nothing-to-resume",
            Self::UnknownRun(_) => "unknown-run",
            Self::AmbiguousRun { .. } => "ambiguous-run",
            Self::SeveralRuns { .. } => "several-runs",
            Self::UnreadableSquad { .. } => "unreadable-squad",
            Self::SquadPastEnd { .. } | Self::SquadInTheWay { .. } => "foreign-squad",
            Self::SquadNotTaken(why) => why.code(),
            Self::SquadOver { .. } => "finished",
            Self::Open(error) => of_open(error),
            Self::KeptDeclaration { .. } => "unreadable-run",
            Self::Lost { why, .. } => why.code(),
            Self::ForeignRun(_) => "foreign-run",
            Self::DamagedJournal { .. } => "damaged-journal",
            Self::KeptCopyChanged { .. } | Self::DeclarationEdited { .. } => "declaration-changed",
            Self::DeclarationUnusable { .. } => "declaration-unusable",
            Self::FilesChanged { .. } => "files-changed",
            Self::Changed(changed) => changed.code(),
            Self::ComparisonCancelled => "look-given-up",
            Self::HiddenInput { .. } => "hidden-input",
            Self::Start(error) => of_start(error),
            Self::Machine(refusal) => of_machine(refusal),
            Self::Running { .. } => "running",
            Self::NoGate(_) => "no-gate",
            Self::EmptyResult => "empty-result",
            Self::NothingToSubmit => "nothing-to-submit",
            Self::NoDiff(_) => "no-diff",
            Self::UnknownStage(_) => "unknown-stage",
            Self::NoOutput { .. } => "no-output",
            Self::NotOurs(_) => "not-ours",
            Self::UnreadableFile { .. } => "unreadable-file",
            Self::Outdated | Self::PartsOutOfOrder => "outdated",
            Self::NotRenamed(_) => "not-renamed",
            Self::Disk { .. } => "disk",
        }
    }

    /// The data for Lua; null if there is none.
    fn data(&self) -> Value {
        match self {
            Self::NoProject(none) => json!({ "looked": none.looked }),
            Self::UnknownSuperpower(unknown) => json!({ "names": unknown.names }),
            Self::InvalidDeclaration { path, errors, .. } => json!({ "lines": errors, "path": path }),
            Self::Inputs(error) => inputs(error),
            Self::InputsOfSquad { error, superpower, given } => {
                let mut data = inputs(error);
                data["name"] = json!(superpower);
                data["given"] = json!(given);
                data
            }
            Self::NoHarness(missing) => json!({ "harness": missing.harness }),
            Self::ManualHeadless => json!({ "harness": "manual" }),
            Self::Untrusted(untrusted) => untrusted.data(),
            Self::TooMuchToTrust(too_much) => json!({ "folder": too_much.folder }),
            Self::AmbiguousRun { runs, .. } | Self::SeveralRuns { ids: runs, .. } => json!({ "runs": runs }),
            Self::UnreadableSquad { aside: Aside::Moved(aside), .. } => json!({ "aside": aside }),
            Self::SquadNotTaken(why) => why.data(),
            Self::SquadOver { state, .. } => json!({ "state": state }),
            Self::Lost { .. } => json!({ "lost": true }),
            Self::ForeignRun(foreign) => foreign.data(),
            Self::DamagedJournal { damage, lost, .. } => {
                json!({ "offset": damage.offset, "differences": lost })
            }
            Self::KeptCopyChanged { copy, .. } => {
                json!({ "differences": [format!("{copy} differs from the declaration that was saved when the run started")] })
            }
            Self::DeclarationEdited { differences, .. } => json!({ "differences": differences }),
            Self::DeclarationUnusable { why, .. } => json!({ "differences": why }),
            Self::FilesChanged { stage, files } => json!({ "files": files, "stage": stage }),
            Self::Changed(changed) => changed.data(),
            Self::HiddenInput { input, variables, .. } => json!({ "input": input, "variables": variables }),
            Self::Start(StartError::DrivenElsewhere(holder)) => json!(holder),
            Self::Machine(machine::Refusal::Ended { state, .. }) => json!({ "state": state }),
            Self::Machine(machine::Refusal::StaleGate { open, .. }) => json!({ "gate": open }),
            Self::Running { run_id, .. } => json!({ "run_id": run_id }),
            _ => Value::Null,
        }
    }
}

fn of_inputs(error: &InputError) -> &'static str {
    match error {
        InputError::Missing(_) => "missing-inputs",
        InputError::Unknown { .. } => "unknown-input",
        InputError::Invalid { .. } => "invalid-input",
    }
}

fn inputs(error: &InputError) -> Value {
    match error {
        InputError::Missing(inputs) => json!({ "inputs": inputs.iter().map(input_view).collect::<Vec<_>>() }),
        InputError::Unknown { key, known, .. } => json!({ "key": key, "known": known }),
        InputError::Invalid { key, allowed, .. } => json!({ "key": key, "allowed": allowed }),
    }
}

fn of_open(error: &OpenError) -> &'static str {
    match error {
        OpenError::Name(_) => "not-a-run-id",
        OpenError::Missing(_) => "nothing-to-resume",
        OpenError::Journal(_) | OpenError::Declaration { .. } => "unreadable-run",
    }
}

fn of_start(error: &StartError) -> &'static str {
    match error {
        StartError::DrivenElsewhere(_) => "driven-elsewhere",
        StartError::Open(error) => of_open(error),
        StartError::Journal(JournalError::Key(_)) => "no-state",
        StartError::Journal(_) | StartError::Disk(_) => "disk",
        StartError::Refused(refusal) => of_machine(refusal),
    }
}

fn of_machine(refusal: &machine::Refusal) -> &'static str {
    use machine::Refusal as R;
    match refusal {
        R::Ended { .. } => "finished",
        R::NotNow { .. } => "not-now",
        R::NoGate => "no-gate",
        R::StaleGate { .. } => "stale-gate",
        R::CommentMissing => "comment-missing",
        R::NothingToRework => "nothing-to-rework",
        R::Stale => "stale",
    }
}
