//! What a drive does next, and the results of what it did.

use crate::outcome::{Outcome, Session, Usage};
use crate::run::effect::Effect;
use crate::run::event::Event;

/// An action.
pub(super) enum Act {
    /// An effect from the machine.
    Effect(Effect),
    /// A launch whose prompt is ready.
    Dispatch(Dispatch),
}

/// The result of an action or message.
pub(super) enum Next {
    Nothing,
    /// An event for the run.
    Happened(Box<Event>),
    /// An event for the run, after which the stage's condition can be decided further.
    Decide {
        event: Box<Event>,
        stage: usize,
    },
    /// The prompt of a launch is ready.
    Dispatch(Dispatch),
    Failed(String),
}

/// A launch whose prompt is ready.
pub(super) struct Dispatch {
    pub(super) stage: usize,
    pub(super) launch: u32,
    pub(super) session: Option<Session>,
    pub(super) prompt: String,
}

/// Nothing was started. The user has to fix the cause: an immediate retry would fail again.
pub(super) fn not_started(launch: u32, outcome: Outcome) -> Event {
    Event::AttemptEnded {
        launch,
        outcome,
        message: String::new(),
        tail: String::new(),
        usage: Usage::default(),
    }
}
