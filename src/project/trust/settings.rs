//! Of `.claude/settings.local.json` only what runs or permits something counts: the rest is taste, and Claude Code
//! writes it as people work.

use serde_json::{Map, Value};

/// The file, relative to the project.
pub(super) const LOCAL: &str = ".claude/settings.local.json";

/// A key counts whose name holds one of these, in any case: `hooks`, `permissions`, `env`, `apiKeyHelper`,
/// `awsAuthRefresh`, `gcpAuthRefresh`, `awsCredentialExport`, `otelHeadersHelper`, `statusLine`, `fileSuggestion`,
/// `enabledMcpjsonServers`, `enableAllProjectMcpServers`, `enabledPlugins`, `extraKnownMarketplaces`, `sandbox`, and
/// what later versions add to these families.
const WORDS: [&str; 17] = [
    "agent",
    "allow",
    "auth",
    "command",
    "credential",
    "deny",
    "director",
    "env",
    "helper",
    "hook",
    "marketplace",
    "mcp",
    "permission",
    "plugin",
    "sandbox",
    "statusline",
    "suggestion",
];

/// The part of the file that counts. What is no JSON object counts whole.
pub(super) fn counting(bytes: &[u8]) -> Vec<u8> {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let Ok(Value::Object(all)) = serde_json::from_slice(text) else { return bytes.to_vec() };
    let mut kept: Vec<(String, Value)> = all.into_iter().filter(|(key, _)| counts(key)).collect();
    kept.sort_by(|(one, _), (other, _)| one.cmp(other));
    if kept.is_empty() {
        return Vec::new();
    }
    Value::Object(Map::from_iter(kept)).to_string().into_bytes()
}

fn counts(key: &str) -> bool {
    let key = key.to_lowercase();
    WORDS.iter().any(|word| key.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_or_permits_something_counts_and_taste_does_not() {
        let same = |one: &str, other: &str| counting(one.as_bytes()) == counting(other.as_bytes());
        assert!(same(r#"{"theme":"dark","spinnerTipsEnabled":true}"#, "{}"));
        assert!(same(r#"{"model":"opus","env":{"A":"1"}}"#, r#"{"env":{"A":"1"},"model":"haiku"}"#));
        for key in
            ["hooks", "permissions", "env", "apiKeyHelper", "statusLine", "enabledMcpjsonServers", "sandbox"]
        {
            assert!(!same(&format!(r#"{{"{key}":{{"a":1}}}}"#), "{}"), "{key}");
        }
        assert!(!same("{", "{}"), "what cannot be read counts whole");
    }
}
