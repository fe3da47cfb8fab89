//! What Claude Code is called.

/// As a harness.
pub const NAME: &str = "claude";
