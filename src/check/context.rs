//! What the checker may hold a declaration against.

/// What a declaration is checked against, besides itself. What is `None` is not checked.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// The stem of its file.
    pub stem: Option<String>,
    /// The agents that there are.
    pub agents: Option<Vec<String>>,
    /// The skills that there are.
    pub skills: Option<Vec<String>>,
    /// Why an agent may be missing though somebody wrote one.
    pub agents_left: Vec<Left>,
    /// Why a skill may be.
    pub skills_left: Vec<Left>,
    /// Facts of the user's own, registered from Lua.
    pub facts: Vec<String>,
    /// Harnesses from the configuration, besides those that the engine knows.
    pub harnesses: Vec<String>,
    /// Another file of the same name in the same place.
    pub twin: Option<String>,
}

/// Something that was not read: a link that is not followed, or a file that is not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// The name that it would have; none where it may be any.
    pub name: Option<String>,
    /// What it is, and why it was not read.
    pub message: String,
}
