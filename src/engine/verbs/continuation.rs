//! What a run would continue with: the declaration that it keeps, or the one that was edited meanwhile.

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

/// What a verb would drive next.
pub struct Next {
    /// The plan of the edited declaration; none where the run continues with the one that it keeps.
    pub edited: Option<Plan>,
    /// The bytes of the declaration that counts.
    pub bytes: Vec<u8>,
    /// What is in the project.
    pub index: Index,
    /// The copy that the run keeps, where that counts and is not what the file holds.
    pub kept: Option<PathBuf>,
    /// Why its file is not looked at, where it is not.
    pub gone: Option<String>,
}

/// The declaration that the run would continue with, by the answers given.
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
                Refusal::UnknownSuperpower(_) => "is no longer there".to_owned(),
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

/// The plan of an edited declaration that the run is to continue with, if it is another one.
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
    let plan = Plan::again(declaration, &run.plan.inputs)
        .map_err(|error| unusable(vec![format!("the inputs of this run do not fit it any more: {error}")]))?;
    match compare(&run.plan, &plan, run.cursor) {
        Drift::None => Ok(None),
        Drift::Differs(differences) if !answers.has(Choice::New) => {
            Err(Refusal::DeclarationEdited { superpower, differences })
        }
        Drift::Harmless | Drift::Differs(_) => Ok(Some(plan)),
    }
}
