//! Chooses the declaration that a run continues with: its own copy, or the file that was edited meanwhile.

use super::answers::{Answers, Choice};
use crate::engine::core::Engine;
use crate::engine::editing::context::index;
use crate::engine::editing::loaded::Loaded;
use crate::engine::refusal::Refusal;
use crate::plan::Plan;
use crate::project::Index;
use crate::run::drift::{Drift, compare};
use crate::runs::open::Opened;
use std::path::{Path, PathBuf};

pub struct Next {
    /// The plan of the edited declaration; `None` if the run continues with its own copy.
    pub edited: Option<Plan>,
    /// The bytes of the declaration in use.
    pub bytes: Vec<u8>,
    pub index: Index,
    /// The run's own copy, if it is used and differs from the file.
    pub kept: Option<PathBuf>,
    /// Why the superpower's file cannot be read, if it cannot.
    pub gone: Option<String>,
}

/// The declaration that the run would continue with, given these answers.
pub fn next(engine: &Engine, root: &Path, opened: &Opened, answers: &Answers) -> Result<Next, Refusal> {
    let name = opened.run.plan.name();
    let kept = |index, gone, there: Option<&[u8]>| {
        let bytes = opened.dir.declaration(&opened.declaration);
        let bytes = bytes.map_err(|error| Refusal::KeptDeclaration { superpower: name.to_owned(), error })?;
        let same = there == Some(bytes.as_slice());
        let kept = (!same).then(|| opened.dir.path().join(&opened.declaration));
        Ok(Next { edited: None, bytes, index, kept, gone })
    };
    let loaded = match Loaded::find(engine, root, name) {
        Ok(loaded) => loaded,
        Err(gone) => {
            let why = match gone {
                Refusal::UnknownSuperpower(_) => "no longer exists".to_owned(),
                gone => gone.to_string(),
            };
            return kept(index(engine, root), Some(why), None);
        }
    };
    match drift(opened, &loaded, answers)? {
        Some(edited) => {
            let Loaded { bytes, index, .. } = loaded;
            Ok(Next { edited: Some(edited), bytes, index, kept: None, gone: None })
        }
        None => kept(loaded.index, None, Some(&loaded.bytes)),
    }
}

/// The plan of the edited declaration, if the run is to continue with it.
fn drift(opened: &Opened, loaded: &Loaded, answers: &Answers) -> Result<Option<Plan>, Refusal> {
    let run = &opened.run;
    let kept = || opened.dir.declaration(&opened.declaration);
    let unchanged = || !opened.changed && kept().is_ok_and(|kept| kept == loaded.bytes);
    if answers.has(Choice::Old) || unchanged() {
        return Ok(None);
    }
    let superpower = run.plan.name().to_owned();
    let unusable = |why| Refusal::DeclarationUnusable { superpower: superpower.clone(), why };
    let Some(declaration) = loaded.checked.declaration.clone() else {
        return Err(unusable(loaded.errors()));
    };
    let plan = Plan::with_edited(declaration, &run.plan.inputs)
        .map_err(|error| unusable(vec![format!("it no longer accepts the inputs of this run: {error}")]))?;
    match compare(&run.plan, &plan, run.cursor) {
        Drift::None => Ok(None),
        Drift::Differs(differences) if !answers.has(Choice::New) => {
            Err(Refusal::DeclarationEdited { superpower, differences })
        }
        Drift::Harmless | Drift::Differs(_) => Ok(Some(plan)),
    }
}
