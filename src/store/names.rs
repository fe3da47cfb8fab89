//! Names that come from files. What lies in a project may have come with it, so a name is checked against its grammar
//! before it becomes a path, an argument or a title, and a text is one bounded line before it is shown.

use thiserror::Error;

/// Characters of a name.
const LONGEST: usize = 200;
/// Characters of a run id; ours are UUIDs.
const ID: usize = 64;

/// What was to be the id of a run, and is not.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("\"{0}\" is not a run id")]
pub struct NotARunId(String);

impl NotARunId {
    /// Of this text, shown as one bounded line.
    pub fn new(text: &str) -> Self {
        Self(line(text, ID))
    }
}

/// Whether this may be the id of a run: letters, digits and `-`, not first.
pub fn is_run_id(text: &str) -> bool {
    text.len() <= ID
        && !text.starts_with('-')
        && !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// Whether this may be the name of a superpower, such as `deploy` or `team/deploy`.
pub fn is_superpower(text: &str) -> bool {
    let part = |part: &str| {
        part.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '_')
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
    };
    text.len() <= LONGEST && text.split('/').all(part)
}

/// A text from a file as one line for people: no control characters, and no longer than this many characters.
pub fn line(text: &str, longest: usize) -> String {
    let mut shown: String =
        text.chars().take(longest + 1).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if shown.chars().count() > longest {
        shown.pop();
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_id_leads_nowhere_else() {
        for id in ["r", "01a22ef3-0000-7612-b7ab-ce84a7ad77c7", "0"] {
            assert!(is_run_id(id), "{id}");
        }
        let long = "a".repeat(65);
        for id in ["", ".", "..", "../x", "a/b", "/a", "-rf", "a b", "a\0", "a%b", "é", "a.b", &long] {
            assert!(!is_run_id(id), "{id}");
        }
    }

    #[test]
    fn a_superpower_is_called_so_that_nothing_evaluates_it() {
        for name in ["deploy", "team/deploy", "a_b", "v1.2", "Team/Deploy-2"] {
            assert!(is_superpower(name), "{name}");
        }
        let long = "a".repeat(201);
        for name in
            ["", "/", "a/", "/a", "../a", "a/../b", "a/.b", "-a", "%{1}", "a b", "a\nb", "a\u{1b}[2J", &long]
        {
            assert!(!is_superpower(name), "{name}");
        }
    }

    #[test]
    fn a_line_is_one_line_and_no_longer_than_it_may_be() {
        assert_eq!(line("a\nb\u{1b}[31m", 100), "a b [31m");
        assert_eq!(line("abc", 3), "abc");
        assert_eq!(line("abcd", 3), "abc…");
        assert_eq!(NotARunId::new("../../x").to_string(), "\"../../x\" is not a run id");
    }
}
