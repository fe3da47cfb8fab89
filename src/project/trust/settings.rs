//! In `.claude/settings.local.json` every key counts except known preferences, which Claude Code changes as people
//! work. An unknown key may run or permit something, or instruct an agent.

use serde_json::{Map, Value};

/// Relative to the project.
pub(super) const LOCAL: &str = ".claude/settings.local.json";

/// Preferences: keys that run nothing, permit nothing and instruct no agent.
const PREFERENCES: [&str; 19] = [
    "$schema",
    "alwaysThinkingEnabled",
    "autoUpdatesChannel",
    "cleanupPeriodDays",
    "editorMode",
    "effortLevel",
    "feedbackSurveyRate",
    "model",
    "preferredNotifChannel",
    "prefersReducedMotion",
    "showTurnDuration",
    "spinnerTipsEnabled",
    "spinnerTipsOverride",
    "spinnerVerbs",
    "syntaxHighlightingDisabled",
    "terminalProgressBarEnabled",
    "theme",
    "verbose",
    "viewMode",
];

/// The part of the file that counts. A file that is not a JSON object counts as a whole.
pub(super) fn counting(bytes: &[u8]) -> Vec<u8> {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let Ok(Value::Object(all)) = serde_json::from_slice(text) else { return bytes.to_vec() };
    let mut kept: Vec<(String, Value)> =
        all.into_iter().filter(|(key, _)| !PREFERENCES.contains(&key.as_str())).collect();
    kept.sort_by(|(one, _), (other, _)| one.cmp(other));
    if kept.is_empty() {
        return Vec::new();
    }
    Value::Object(Map::from_iter(kept)).to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_except_known_preferences_counts() {
        let same = |one: &str, other: &str| counting(one.as_bytes()) == counting(other.as_bytes());
        assert!(same(r#"{"theme":"dark","spinnerTipsEnabled":true}"#, "{}"));
        assert!(same(r#"{"model":"opus","env":{"A":"1"}}"#, r#"{"env":{"A":"1"},"model":"haiku"}"#));
        for key in [
            "hooks",
            "permissions",
            "env",
            "apiKeyHelper",
            "statusLine",
            "enabledMcpjsonServers",
            "sandbox",
            // `language` is passed to the agent, one key is of another version, and one differs from a known key in
            // case.
            "language",
            "outputStyle",
            "defaultShell",
            "somethingNew",
            "Theme",
        ] {
            assert!(!same(&format!(r#"{{"{key}":{{"a":1}}}}"#), "{}"), "{key}");
        }
        assert!(!same("{", "{}"), "an unreadable file counts as a whole");
    }
}
