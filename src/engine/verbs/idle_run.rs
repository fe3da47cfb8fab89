//! A verb for a run that nobody drives: which run, whether it may be taken up, and the drive that comes of it.

use super::admission::{Purpose, admit};
use super::adoption::Taking;
use super::answers::Answers;
use super::nested::nested;
use super::preflight::{before_driving, look_again};
use super::run_lookup;
use super::target_run::{Whom, running};
use crate::driver::handle::Handle;
use crate::driver::run_status::Standing;
use crate::driver::start::take_up;
use crate::engine::core::Engine;
use crate::engine::refusal::Refusal;
use crate::environ;
use crate::plan::Inputs;
use crate::run::event::Event;
use crate::runs::open::Opened;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

/// How long a drive may take to end.
const END: Duration = Duration::from_secs(5);

/// A verb for a run that nobody drives, the current one unless another is named; one that goes on with it comes with its
/// answers.
pub fn verb(
    engine: &Engine,
    root: &Path,
    name: &str,
    event: Event,
    answers: Option<&Answers>,
    whom: Whom,
) -> Result<Value, Refusal> {
    if answers.is_some() {
        nested(name)?;
    }
    idle(engine, root)?;
    let inputs = Inputs::new();
    let taking = answers.map_or(Taking::Quietly, |answers| Taking::Asking { answers, inputs: &inputs });
    let run_id = whom.find(engine, root, &taking)?;
    let purpose = match (&event, answers) {
        // A run that ends loses nothing by what its journal has lost.
        (Event::Cancelled { .. }, _) => Purpose::End,
        (_, Some(answers)) => Purpose::Continue(answers),
        (_, None) => Purpose::Pause,
    };
    let admit = |opened: &Opened| admit(engine, root, opened, purpose);
    let handle = take_up(engine.host(), root, &run_id, admit, |opened| -> Result<Vec<Event>, Refusal> {
        let mut events = Vec::new();
        // The machine says of a run that is over, or that waits for another verb, what it is.
        let fits = matches!(opened.run.phase.reason(), Some(reason) if !reason.waits_for_another_verb());
        if let Some(answers) = answers.filter(|_| fits) {
            if let Some(at) = look_again(engine, root, opened, answers)? {
                return Ok(at);
            }
            events = before_driving(engine, root, opened, answers, true)?;
        }
        events.push(event);
        Ok(events)
    });
    started(engine, root, handle.map_err(|refusal| run_lookup::lost(engine, root, &run_id, refusal))?, 0)
}

/// What a verb answers that has begun a drive.
pub fn started(engine: &Engine, root: &Path, handle: Handle, others: usize) -> Result<Value, Refusal> {
    let handle = engine.keep(root, handle);
    Ok(json!({ "run_id": handle.run_id, "others": others, "state": handle.standing().state }))
}

/// Refuses while this editor drives a run of the project; one that is just ending is waited for.
pub fn idle(engine: &Engine, root: &Path) -> Result<(), Refusal> {
    let Some(drive) = running(engine, root) else { return Ok(()) };
    let Standing { is_running, superpower, stage, .. } = drive.standing();
    if !is_running && drive.wait(END) {
        return Ok(());
    }
    Err(Refusal::Running { run_id: drive.run_id.clone(), superpower, stage })
}

/// Who asked.
pub fn by(by: Option<String>) -> String {
    by.filter(|by| !by.is_empty()).unwrap_or_else(environ::user)
}
