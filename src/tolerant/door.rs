//! What each kind of text may have that strict JSON does not.

/// What a door takes besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Door {
    /// Comments, `//` and `/* */`.
    pub(super) comments: bool,
    /// Signs of Markdown between tokens, as in `{**"a"**: 1}`.
    pub(super) markdown: bool,
    /// What is nested too deeply reads as null; else it is damage.
    pub(super) cut_deep: bool,
}

/// A document that is written again: nothing in it may be dropped.
pub const FILE: Door = Door { comments: false, markdown: false, cut_deep: false };
/// Settings that people write by hand.
pub const SETTINGS: Door = Door { comments: true, ..FILE };
/// Lines that a program prints.
pub const EVENT: Door = Door { cut_deep: true, ..FILE };
/// Objects in the prose of a model.
pub const PROSE: Door = Door { comments: true, markdown: true, cut_deep: true };

/// Levels that are read; strict readers take a few more.
pub const DEEPEST: usize = 100;
