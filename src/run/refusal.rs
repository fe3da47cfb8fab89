//! Why an event does not fit the current state of a run.

use thiserror::Error;

/// Why an event was refused. The run is unchanged.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    #[error("{words}")]
    Ended {
        /// The final state, as in the snapshot.
        state: &'static str,
        /// The same as a sentence.
        words: String,
    },
    /// The run is not paused, or its pause does not accept this verb.
    #[error("cannot {verb} a run that is {state}")]
    NotNow {
        verb: &'static str,
        /// For example `paused at a gate`.
        state: String,
    },
    #[error("no gate is waiting")]
    NoGate,
    /// The open gate is another one, or another visit of it.
    #[error("the decision is for gate {given}, but gate {open} is open")]
    StaleGate { given: String, open: String },
    /// "Request changes" without a comment.
    #[error("changes need a comment that says what to change")]
    CommentMissing,
    /// No stage before the gate has run an action.
    #[error("nothing to rework: no stage before this gate has run an action")]
    NothingToRework,
    /// The event is about a launch, stage or delay that is over. Races cause this; nothing is shown.
    #[error("the event is out of date")]
    Stale,
}
