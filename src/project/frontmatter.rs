//! The scalars between the two `---` at the head of a Markdown file.
//!
//! Agents' files are written for tools that are lenient: descriptions hold unquoted colons, and much that is no
//! YAML. So this reads line by line what can be read, and never fails.

use std::collections::BTreeMap;

/// The scalar keys at the top level, as text. Lists and maps are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frontmatter {
    keys: BTreeMap<String, String>,
}

impl Frontmatter {
    /// Reads the head of `text`; nothing where it has none, or no end.
    pub fn read(text: &str) -> Option<Self> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut lines = text.lines().map(|line| line.trim_end());
        if lines.next() != Some("---") {
            return None;
        }
        let mut head = Vec::new();
        loop {
            match lines.next()? {
                "---" | "..." => break,
                line => head.push(line),
            }
        }
        Some(Self { keys: keys(&head) })
    }

    /// The text of a key, where it has one.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.keys.get(key).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Whether a key says `true`.
    pub fn is_true(&self, key: &str) -> bool {
        self.get(key).is_some_and(|value| value.eq_ignore_ascii_case("true"))
    }
}

fn keys(head: &[&str]) -> BTreeMap<String, String> {
    let mut keys = BTreeMap::new();
    let mut at = 0;
    while at < head.len() {
        let line = head[at];
        at += 1;
        let Some((key, value)) = entry(line) else { continue };
        let start = at;
        while at < head.len() && (head[at].is_empty() || head[at].starts_with([' ', '\t'])) {
            at += 1;
        }
        let more = &head[start..at];
        if let Some(value) = scalar(value, more) {
            keys.insert(key.to_owned(), value);
        }
    }
    keys
}

fn entry(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let spaced = value.is_empty() || value.starts_with([' ', '\t']);
    let plain = !key.is_empty() && !key.starts_with(['#', '-', ' ', '\t']);
    (spaced && plain).then(|| (key.trim_end().trim_matches(['"', '\'']), value.trim()))
}

fn scalar(value: &str, more: &[&str]) -> Option<String> {
    let continued =
        more.iter().map(|line| line.trim()).filter(|line| !line.is_empty() && !line.starts_with('#'));
    match value.chars().next() {
        Some('|') => {
            Some(more.iter().map(|line| line.trim()).collect::<Vec<_>>().join("\n").trim().to_owned())
        }
        Some('>') => Some(continued.collect::<Vec<_>>().join(" ")),
        Some('[' | '{' | '&' | '*' | '!') => None,
        Some(quote @ ('"' | '\'')) => {
            let whole = std::iter::once(value).chain(continued).collect::<Vec<_>>().join(" ");
            Some(unquote(&whole, quote))
        }
        None if more
            .iter()
            .any(|line| line.trim_start().starts_with("- ") || entry(line.trim()).is_some()) =>
        {
            None
        }
        _ => Some(
            std::iter::once(uncomment(value))
                .chain(continued)
                .collect::<Vec<_>>()
                .join(" ")
                .trim()
                .to_owned(),
        ),
    }
}

fn uncomment(value: &str) -> &str {
    match value.find(" #") {
        _ if value.starts_with('#') => "",
        Some(at) => value[..at].trim_end(),
        None => value,
    }
}

fn unquote(value: &str, quote: char) -> String {
    let mut out = String::new();
    let mut rest = value[1..].chars().peekable();
    while let Some(next) = rest.next() {
        match next {
            '\'' if quote == '\'' && rest.peek() == Some(&'\'') => {
                rest.next();
                out.push('\'');
            }
            '\\' if quote == '"' => match rest.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some(other) => out.push(other),
                None => {}
            },
            _ if next == quote => break,
            _ => out.push(next),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_people_and_tools_write() {
        let head = "---\r\nname: qa\r\ndescription: Use me: for tests # not this\r\nui: true\r\ntools:\r\n  - Read\r\n\
                    quoted: \"a \\\"b\\\": c\"\r\nsingle: 'it''s'\r\nlong: >\r\n  one\r\n  two\r\nplain: one\r\n  two\r\nempty:\r\n---\r\nBody";
        let read = Frontmatter::read(head).unwrap();
        assert_eq!(read.get("name"), Some("qa"));
        assert_eq!(read.get("description"), Some("Use me: for tests"));
        assert!(read.is_true("ui"));
        assert_eq!(read.get("tools"), None);
        assert_eq!(read.get("quoted"), Some("a \"b\": c"));
        assert_eq!(read.get("single"), Some("it's"));
        assert_eq!(read.get("long"), Some("one two"));
        assert_eq!(read.get("plain"), Some("one two"));
        assert_eq!(read.get("empty"), None);
    }

    #[test]
    fn a_file_without_a_whole_head_has_none() {
        assert_eq!(Frontmatter::read("# Title\n---\nui: true\n---\n"), None);
        assert_eq!(Frontmatter::read("---\nui: true\n"), None);
        assert_eq!(Frontmatter::read(""), None);
    }
}
