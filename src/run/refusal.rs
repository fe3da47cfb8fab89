//! Why an event does not fit the run as it is.

use thiserror::Error;

/// Why an event was refused. The run is as it was.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// The run is over.
    #[error("{words}")]
    Ended {
        /// How, as its snapshot has it.
        state: &'static str,
        /// The same in a sentence.
        words: String,
    },
    /// The verb does not fit why the run is paused, or it is not paused.
    #[error("{verb} is not for a run that is {state}")]
    NotNow {
        /// The verb.
        verb: &'static str,
        /// E.g. `paused (gate)`.
        state: String,
    },
    /// No gate is open.
    #[error("no gate is waiting")]
    NoGate,
    /// Another gate, or another visit of it, is open.
    #[error("the decision is for gate {given}, but gate {open} is open")]
    StaleGate {
        /// What the decision named.
        given: String,
        /// What is open.
        open: String,
    },
    /// "Request changes" without saying which.
    #[error("changes need a comment that says what to change")]
    CommentMissing,
    /// No stage before the gate has done any work.
    #[error("there is nothing to rework before this gate: no earlier stage has run an action")]
    NothingToRework,
    /// It is about a launch, a stage or a wait that is not current. Expected in races; nothing to show.
    #[error("it is about something that is over")]
    Stale,
}
