//! Start errors on Claude Code's standard error that would also fail every later attempt.

use regex::Regex;
use std::sync::LazyLock;

/// Our options that are only needed for the pipe.
const PIPE: [&str; 3] = ["--input-format", "--permission-prompt-tool", "--include-partial-messages"];

/// Why Claude Code did not start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It has no `--agent`, as releases before 2.0.59.
    NoAgentOption,
    NoPipe,
    /// It does not know this option.
    Unknown(String),
    /// Another message of its own, for example that the agent does not exist.
    Said(String),
}

/// The reason, if it is a permanent one.
pub fn refused(errors: &str) -> Option<Refused> {
    static OPTION: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)unknown option:?\s+['\x22`]?(--?[\w-]+)").expect("a constant pattern")
    });
    static SAID: LazyLock<Regex> = LazyLock::new(|| {
        let lines = r"(?im)^\s*(error: (option|missing|required|too many|unknown|invalid|command-argument|argument)\b";
        let more = r"|--agent '.*' not found|error: invalid session id|--\S+ cannot be used).*";
        Regex::new(&format!("{lines}{more}")).expect("a constant pattern")
    });
    if let Some(found) = OPTION.captures(errors) {
        return Some(match &found[1] {
            "--agent" => Refused::NoAgentOption,
            option if PIPE.contains(&option) => Refused::NoPipe,
            option => Refused::Unknown(option.to_owned()),
        });
    }
    SAID.find(errors).map(|found| Refused::Said(found.as_str().trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permanent_start_errors_are_told_from_passing_ones() {
        assert_eq!(refused("error: unknown option '--agent'\n"), Some(Refused::NoAgentOption));
        assert_eq!(refused("error: unknown option '--input-format'"), Some(Refused::NoPipe));
        assert_eq!(refused("error: unknown option '--modell'"), Some(Refused::Unknown("--modell".into())));
        assert_eq!(
            refused("error: unknown option '--agents-x'\n(Did you mean --agents?)"),
            Some(Refused::Unknown("--agents-x".into()))
        );
        for said in [
            "--agent 'nosuch' not found. Available agents: claude, Explore",
            "error: option '--max-turns <n>' argument 'x' is invalid.",
            "Error: Invalid session ID. Must be a valid UUID.",
            "--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons",
        ] {
            assert_eq!(refused(&format!("{said}\n")), Some(Refused::Said(said.into())));
        }
        for passing in
            ["", "Error: connect ECONNREFUSED", "Segmentation fault", "TypeError: x is not a function"]
        {
            assert_eq!(refused(passing), None, "{passing}");
        }
    }
}
