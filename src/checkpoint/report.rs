//! What the writing of checkpoints has to say.

/// What people should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// A checkpoint cannot be written for now; said once for each cause.
    Waiting(String),
    /// It could be written after all.
    Recovered,
    /// Something was mended on the way: a dead owner's lock broken, an unreadable document moved aside.
    Mended(String),
    /// The document is another than before, by us or by somebody else: worth reading again.
    Changed,
    /// Writing stands otherwise than before: to show, not to tell.
    Stands(State),
}

/// Where writing stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// All is written.
    Written,
    /// Something waits to be written, and this is why.
    Waiting(String),
}
