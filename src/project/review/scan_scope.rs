//! The scope of a snapshot.

/// Which files a snapshot includes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScanScope {
    /// The files that git does not ignore.
    NotIgnored,
    /// Ignored files too.
    All,
    /// The files that git does not ignore, because there are too many ignored ones.
    TooManyIgnored,
}
