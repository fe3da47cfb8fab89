//! What is to be done next, and what something has come to.

use crate::outcome::{Outcome, Session, Usage};
use crate::run::effect::Effect;
use crate::run::event::Event;

/// Something to be done.
pub(super) enum Act {
    /// An effect of the machine's.
    Effect(Effect),
    /// A launch whose prompt is there.
    Dispatch(Dispatch),
}

/// What something has come to.
pub(super) enum Next {
    Nothing,
    /// The run is to be told.
    Happened(Box<Event>),
    /// The same, and the stage's condition can be decided further.
    Decide {
        event: Box<Event>,
        stage: usize,
    },
    /// A launch has its prompt.
    Dispatch(Dispatch),
    /// The disk has failed.
    Failed(String),
}

/// A launch whose prompt is there.
pub(super) struct Dispatch {
    pub(super) stage: usize,
    pub(super) launch: u32,
    pub(super) session: Option<Session>,
    pub(super) prompt: String,
}

/// Nothing was started. A human has to see to that: trying again at once would change nothing.
pub(super) fn not_started(launch: u32, outcome: Outcome) -> Event {
    Event::AttemptEnded {
        launch,
        outcome,
        message: String::new(),
        tail: String::new(),
        usage: Usage::default(),
    }
}
