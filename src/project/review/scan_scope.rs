//! How much of a project is looked at.

/// How far a look goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScanScope {
    /// What git sees.
    Seen,
    /// What it ignores too.
    All,
    /// What it sees, since what it ignores is too much.
    TooMuch,
}
