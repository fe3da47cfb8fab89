//! What the checkpoint writer reports.

/// A report for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// A checkpoint cannot be written for now; sent once per cause.
    Waiting(String),
    /// The waiting checkpoints were written.
    Recovered,
    /// A problem was fixed: a dead owner's lock was broken, or an unreadable document was moved aside.
    Fixed(String),
    /// We or another tool changed the document, so it should be read again.
    Changed,
    /// The state of writing has changed. It is shown, but does not notify.
    State(State),
}

/// The state of writing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    Written,
    /// Something is not written yet, for this reason.
    Waiting(String),
}
