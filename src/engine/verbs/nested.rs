//! Refuses verbs in an editor that a stage has started.

use crate::engine::refusal::Refusal;

/// Refuses, because a run must not decide about itself. `what` follows "must not".
pub fn refuse_nested(what: &str) -> Result<(), Refusal> {
    match crate::environ::get("SUPERPOWER_RUN_ID") {
        Some(_) => Err(Refusal::Nested { what: what.to_owned() }),
        None => Ok(()),
    }
}
