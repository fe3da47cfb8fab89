//! What a declaration is checked against, apart from itself.

/// What a declaration is checked against, apart from itself. Values that are `None` are not checked.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// The file name without its extension.
    pub stem: Option<String>,
    /// The agents that there are.
    pub agents: Option<Vec<String>>,
    /// The skills that there are.
    pub skills: Option<Vec<String>>,
    /// Agent files that exist but were not read, with the reason.
    pub agents_left: Vec<Left>,
    /// Skill files that exist but were not read, with the reason.
    pub skills_left: Vec<Left>,
    /// The user's own facts, registered from Lua.
    pub facts: Vec<String>,
    /// Whether other facts may be registered that are not known here, without an editor.
    pub more_facts: bool,
    /// Harnesses from the configuration, in addition to the built-in ones.
    pub harnesses: Vec<String>,
    /// Another file with the same name in the same place.
    pub twin: Option<String>,
}

/// A file that was not read: a link that is not followed, or a file that could not be understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// The name it would have, if that is known.
    pub name: Option<String>,
    /// What it is and why it was not read.
    pub message: String,
}
