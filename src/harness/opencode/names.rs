//! What OpenCode is called here, and what is said of it.

/// The name of this harness.
pub const NAME: &str = "opencode";
/// What turns asking into allowing.
pub(super) const HINT: &str =
    r#"to allow it: harnesses.opencode.args = { "--auto" }, or a rule in its own configuration"#;
