//! A verb for a run without an active drive: finds the run, checks whether it may continue, and starts a drive.

use super::admission::{Purpose, admit};
use super::adoption::Takeover;
use super::answers::Answers;
use super::preflight::{before_driving, review_changed_files};
use super::run_lookup;
use super::target_run::{TargetRun, running};
use crate::driver::handle::Handle;
use crate::driver::run_status::Standing;
use crate::driver::start::take_up;
use crate::engine::caller;
use crate::engine::core::Engine;
use crate::engine::refusal::Refusal;
use crate::environ;
use crate::plan::Inputs;
use crate::run::event::Event;
use crate::run::how::{How, Means};
use crate::runs::open::Opened;
use crate::store::configuration;
use crate::store::state::State;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

/// Maximum wait for a drive that is about to end.
const END: Duration = Duration::from_secs(5);

/// Performs a verb on a run without an active drive: the named one, or the current one. `answers` is set for verbs that
/// continue the run.
pub fn verb(
    engine: &Engine,
    root: &Path,
    event: Event,
    answers: Option<&Answers>,
    target: TargetRun,
) -> Result<Value, Refusal> {
    require_idle(engine, root)?;
    let inputs = Inputs::new();
    let takeover = answers.map_or(Takeover::Quietly, |answers| Takeover::Asking { answers, inputs: &inputs });
    let run_id = target.find(engine, root, &takeover)?;
    let purpose = match (&event, answers) {
        // The lost part of a journal does not matter to a run that ends.
        (Event::Cancelled { .. }, _) => Purpose::End,
        (_, Some(answers)) => Purpose::Continue(answers),
        (_, None) => Purpose::Pause,
    };
    let admit = |opened: &Opened| admit(engine, root, opened, purpose);
    let handle = take_up(engine.host(), root, &run_id, admit, |opened| -> Result<Vec<Event>, Refusal> {
        let mut events = Vec::new();
        // For other phases the machine's own refusal says what the run is doing.
        let fits = matches!(opened.run.phase.reason(), Some(reason) if !reason.refuses_retry());
        if let Some(answers) = answers.filter(|_| fits) {
            if let Some(at) = review_changed_files(engine, root, opened, answers)? {
                return Ok(at);
            }
            events = before_driving(engine, root, opened, answers, true)?;
        }
        events.push(event);
        Ok(events)
    });
    started_reply(
        engine,
        root,
        handle.map_err(|refusal| run_lookup::explain_unreadable(engine, root, &run_id, refusal))?,
        0,
    )
}

/// The reply of a verb that has started a drive.
pub fn started_reply(engine: &Engine, root: &Path, handle: Handle, others: usize) -> Result<Value, Refusal> {
    let handle = engine.keep(root, handle);
    keep_configuration(engine, root);
    Ok(json!({ "run_id": handle.run_id, "others": others, "state": handle.standing().state }))
}

/// Keeps this editor's configuration for the command line.
fn keep_configuration(engine: &Engine, root: &Path) {
    let config = engine.config();
    if config.command {
        return;
    }
    let state = State::at(config.state_dir.as_deref()).filter(|state| state.is_outside(root));
    // Where it cannot be kept, the command line uses what its own file says.
    let _ = state.map(|state| configuration::keep(&state, root, config.chosen()));
}

/// Refuses while this editor drives a run of the project; waits for a drive that is about to end.
pub fn require_idle(engine: &Engine, root: &Path) -> Result<(), Refusal> {
    let Some(drive) = running(engine, root) else { return Ok(()) };
    let Standing { is_running, superpower, stage, .. } = drive.standing();
    if !is_running && drive.wait(END) {
        return Ok(());
    }
    Err(Refusal::Running { run_id: drive.run_id.clone(), superpower, stage })
}

/// How something is decided, and in which process: this one, or the peer that asks. The editor says by what means; without
/// that it is a call from Lua.
pub fn how(engine: &Engine, means: Option<Means>) -> How {
    let means = if engine.config().headless { Means::Headless } else { means.unwrap_or(Means::Lua) };
    match caller::peer() {
        Some(peer) => How { means, process: peer.process.pid, program: peer.program },
        None => How { means, process: std::process::id(), program: crate::process::own_name() },
    }
}

/// The user who sent the request.
pub fn by(by: Option<String>) -> String {
    by.filter(|by| !by.is_empty()).unwrap_or_else(environ::user)
}
