//! Of `.claude/settings.local.json` everything counts but what is known to be taste, which Claude Code writes as people
//! work. A key that we do not know may run or permit something, or be told to an agent.

use serde_json::{Map, Value};

/// The file, relative to the project.
pub(super) const LOCAL: &str = ".claude/settings.local.json";

/// Keys that run nothing, permit nothing and tell an agent nothing.
const TASTE: [&str; 19] = [
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

/// The part of the file that counts. What is no JSON object counts whole.
pub(super) fn counting(bytes: &[u8]) -> Vec<u8> {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let Ok(Value::Object(all)) = serde_json::from_slice(text) else { return bytes.to_vec() };
    let mut kept: Vec<(String, Value)> =
        all.into_iter().filter(|(key, _)| !TASTE.contains(&key.as_str())).collect();
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
    fn all_counts_but_what_is_known_to_be_taste() {
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
            // Told to the agent; of another version; a known one in other letters, which is another key.
            "language",
            "outputStyle",
            "defaultShell",
            "somethingNew",
            "Theme",
        ] {
            assert!(!same(&format!(r#"{{"{key}":{{"a":1}}}}"#), "{}"), "{key}");
        }
        assert!(!same("{", "{}"), "what cannot be read counts whole");
    }
}
