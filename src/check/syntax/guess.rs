//! A guess at what the author meant, as edits of the text.

/// A replacement in the parsed text: start, end, new text.
pub type Change = (usize, usize, String);

/// A fix with its message. Offsets are those of the parsed text.
#[derive(Clone, Debug)]
pub struct Guess {
    pub span: (usize, usize),
    /// In words.
    pub message: String,
    /// The title of the fix.
    pub title: String,
    pub edits: Vec<Change>,
    /// A version of the fix with fewer edits, if that is better to show.
    pub shown: Option<Vec<Change>>,
    /// Other problems that are fixed together with this one.
    pub also: Vec<Guess>,
}
