//! What each kind of text may contain beyond strict JSON.

/// What a reader accepts beyond strict JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Door {
    /// Comments, `//` and `/* */`.
    pub(super) comments: bool,
    /// Markdown emphasis between tokens, as in `{**"a"**: 1}`.
    pub(super) markdown: bool,
    /// Whether values that are nested too deeply are read as null instead of being an error.
    pub(super) cut_deep: bool,
}

/// Documents that are written back: nothing in them may be dropped.
pub const FILE: Door = Door { comments: false, markdown: false, cut_deep: false };
/// Settings that people edit manually.
pub const SETTINGS: Door = Door { comments: true, ..FILE };
/// Lines that a program prints.
pub const EVENT: Door = Door { cut_deep: true, ..FILE };
/// Objects in a model's prose.
pub const PROSE: Door = Door { comments: true, markdown: true, cut_deep: true };

/// Nesting limit; strict parsers allow a little more.
pub const MAX_DEPTH: usize = 100;
