//! What a verb may have to ask before it drives: trust, an edited declaration, files that changed after the approval.
//! A question is a refusal that names its answers; the verb is called again with them.

use super::loaded::{Loaded, index, require_harness};
use super::{Engine, Refusal, trusted};
use crate::driver::open::{Opened, digest};
use crate::plan::{InputError, Inputs, Plan};
use crate::project::Index;
use crate::run::drift::{Drift, compare};
use crate::run::event::Event;
use crate::run::state::Reason;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// An answer to a question that a verb was refused with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The declaration as it was.
    Old,
    /// The declaration as it is.
    New,
    /// Continue although files under review have changed since the approval.
    GoOn,
    /// Look at them again.
    LookAgain,
    /// Take over a run of somebody else's, with what its files claim.
    Adopt,
    /// Agree to what has changed since the last yes.
    Trust,
    /// Continue a damaged run from what is left of it.
    Repair,
}

/// The words for the choices, as they are typed.
const WORDS: [(&str, Choice); 7] = [
    ("old", Choice::Old),
    ("new", Choice::New),
    ("go-on", Choice::GoOn),
    ("look-again", Choice::LookAgain),
    ("adopt", Choice::Adopt),
    ("trust", Choice::Trust),
    ("repair", Choice::Repair),
];

/// The answers given so far, as in `new,go-on`: one verb may have to ask more than one question.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Answers {
    choices: Vec<Choice>,
    /// The digest of what was shown as changed, and is agreed to.
    shown: Option<String>,
}

impl Answers {
    /// Whether this answer was given.
    pub fn has(&self, choice: Choice) -> bool {
        self.choices.contains(&choice)
    }

    /// Those that continue with the declaration that the run keeps.
    pub fn old() -> Self {
        Self { choices: vec![Choice::Old], shown: None }
    }

    /// The same, with a yes to what a gate's window showed as changed.
    pub fn agreeing(&self, shown: Option<&String>) -> Self {
        Self { shown: shown.cloned(), ..self.clone() }
    }

    /// Whether they agree to what has this digest and was agreed to before in another form.
    pub fn agree(&self, digest: &str) -> bool {
        // Who takes a run over by a word has not seen what the word would agree to.
        self.has(Choice::Trust) && !self.has(Choice::Adopt) || self.shown.as_deref() == Some(digest)
    }
}

impl TryFrom<String> for Answers {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let choice = |word: &str| {
            let known = WORDS.iter().find(|(known, _)| *known == word);
            known.map(|(_, choice)| *choice).ok_or_else(|| {
                let names = WORDS.map(|(known, _)| known);
                let hint = crate::suggest::did_you_mean(word, names);
                let (last, others) = names.split_last().expect("there are words");
                format!("unknown answer \"{word}\"{hint}; expected {} or {last}", others.join(", "))
            })
        };
        let choices = text.split(',').map(choice).collect::<Result<_, _>>()?;
        Ok(Self { choices, shown: None })
    }
}

/// An editor that a stage started does not decide over its own run.
pub fn nested(what: &str) -> Result<(), Refusal> {
    match crate::environ::get("SUPERPOWER_RUN_ID") {
        Some(_) => Err(Refusal::Nested { what: what.to_owned() }),
        None => Ok(()),
    }
}

/// What every verb that drives asks first: an edited declaration, trust, and the harness. Gives the events that the
/// answers come to. `drives` is false where an open gate is only shown again: what has changed stands in its window.
pub fn before_driving(
    engine: &Engine,
    root: &Path,
    opened: &Opened,
    answers: &Answers,
    drives: bool,
) -> Result<Vec<Event>, Refusal> {
    let run = &opened.run;
    if let Some((input, variables)) = opened.hidden.iter().next() {
        let superpower = run.plan.name().to_owned();
        return Err(Refusal::HiddenInput { superpower, input: input.clone(), variables: variables.clone() });
    }
    let next = next(engine, root, opened, answers)?;
    let mut events = trusted::before_driving(engine, root, opened, &next, answers, drives)?;
    if let Some(why) = &next.gone {
        let words =
            format!("{} continues with the declaration that it kept: the file of it {why}", run.plan.name());
        engine.say_answer(root, &words);
    }
    require_harness(engine, root, next.edited.as_ref().unwrap_or(&run.plan), run.harness.as_deref())?;
    let Some(edited) = next.edited else { return Ok(events) };
    let declaration = opened
        .dir
        .keep_declaration(&next.bytes)
        .map_err(|error| Refusal::disk("cannot keep the edited declaration", error))?;
    let version = edited.declaration.version.value;
    let digest = Some(digest(&next.bytes));
    events.push(Event::DeclarationReplaced { declaration, digest, version });
    Ok(events)
}

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
    gone: Option<String>,
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

/// Refuses inputs that a run does not have; of those that it has none is changed, which is said.
pub fn known_inputs(engine: &Engine, root: &Path, opened: &Opened, given: &Inputs) -> Result<(), Refusal> {
    let plan = &opened.run.plan;
    let declared = |key: &String| plan.declaration.inputs.iter().any(|input| input.name.value == *key);
    for (key, value) in given.iter().filter(|(key, _)| !plan.inputs.contains_key(*key) || declared(key)) {
        if !declared(key) {
            let known = plan.declaration.inputs.iter().map(|input| input.name.value.clone()).collect();
            let hint = String::new();
            return Err(InputError::Unknown { key: key.clone(), known, hint }.into());
        }
        let kept = plan.inputs.get(key).map_or("", String::as_str);
        if kept != value {
            let words =
                format!("the input \"{key}\" of {} stays \"{kept}\": resume does not change it", plan.name());
            engine.say_answer(root, &words);
        }
    }
    Ok(())
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

/// Files under review that changed since the approval: a question, or the events of its answer.
pub fn look_again(
    engine: &Engine,
    root: &Path,
    opened: &Opened,
    answers: &Answers,
) -> Result<Option<Vec<Event>>, Refusal> {
    if answers.has(Choice::GoOn) || opened.run.phase.reason().is_none_or(|reason| reason == Reason::Gate) {
        return Ok(None);
    }
    let host = engine.host();
    let files = host.looks(&engine.hurry, root).changed_since_approval(&opened.dir, &opened.run);
    if files.is_empty() {
        return Ok(None);
    }
    let Some(decision) = opened.run.decisions.last() else { return Ok(None) };
    if answers.has(Choice::LookAgain) {
        return Ok(Some(vec![Event::GateReopened { stage: decision.stage }]));
    }
    Err(Refusal::FilesChanged { stage: decision.stage + 1, files })
}
