//! The style of a scalar.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Without quotes.
    Plain,
    /// In `'`.
    SingleQuoted,
    /// In `"`.
    DoubleQuoted,
    /// Behind `|`.
    Literal,
    /// Behind `>`.
    Folded,
}
