//! Validates names that come from files. A repository may have brought them, so each is checked against its grammar
//! before it becomes a path, an argument or a title. Text is reduced to one line of limited length before it is
//! shown.

use thiserror::Error;

/// Length limit of a superpower's name, in bytes.
const LONGEST: usize = 200;
/// Length limit of a run id, in bytes; ours are UUIDs.
const ID: usize = 64;

/// The error for text that is not a run id.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("\"{0}\" is not a run id")]
pub struct NotARunId(String);

impl NotARunId {
    /// Shortens the text to one line.
    pub fn new(text: &str) -> Self {
        Self(line(text, ID))
    }
}

/// Whether the text can be a run id: letters, digits and `-`, but not `-` first.
pub fn is_run_id(text: &str) -> bool {
    text.len() <= ID
        && !text.starts_with('-')
        && !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// Whether the text can be the name of a superpower, such as `deploy` or `team/deploy`.
pub fn is_superpower(text: &str) -> bool {
    let part = |part: &str| {
        part.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '_')
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
    };
    text.len() <= LONGEST && text.split('/').all(part)
}

/// Reduces text from a file to one line of at most `longest` characters, without control characters.
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
    fn a_run_id_cannot_be_a_path() {
        for id in ["r", "01a22ef3-0000-7612-b7ab-ce84a7ad77c7", "0"] {
            assert!(is_run_id(id), "{id}");
        }
        let long = "a".repeat(65);
        for id in ["", ".", "..", "../x", "a/b", "/a", "-rf", "a b", "a\0", "a%b", "é", "a.b", &long] {
            assert!(!is_run_id(id), "{id}");
        }
    }

    #[test]
    fn a_superpower_name_has_no_special_characters() {
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
    fn a_line_has_no_line_breaks_and_a_length_limit() {
        assert_eq!(line("a\nb\u{1b}[31m", 100), "a b [31m");
        assert_eq!(line("abc", 3), "abc");
        assert_eq!(line("abcd", 3), "abc…");
        assert_eq!(NotARunId::new("../../x").to_string(), "\"../../x\" is not a run id");
    }
}
