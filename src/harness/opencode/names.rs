//! Constants about OpenCode.

pub const NAME: &str = "opencode";
/// How to allow what was refused.
pub(super) const HINT: &str =
    r#"to allow it: harnesses.opencode.args = { "--auto" }, or a rule in its own configuration"#;
