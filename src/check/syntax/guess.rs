//! A guess at what was meant, as edits of the text.

/// A replacement in the text that is parsed: from, to, by what.
pub type Change = (usize, usize, String);

/// A mend, and how to say it. Offsets are those of the text that is parsed.
#[derive(Clone, Debug)]
pub struct Guess {
    /// What is wrong.
    pub span: (usize, usize),
    /// In words.
    pub message: String,
    /// What the fix is called.
    pub title: String,
    /// The fix.
    pub edits: Vec<Change>,
    /// The fix in fewer edits, where an author is better shown those.
    pub shown: Option<Vec<Change>>,
    /// Others that are mended together with this: each is a fault of its own.
    pub also: Vec<Guess>,
}
