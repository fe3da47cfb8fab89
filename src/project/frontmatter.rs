//! Reads the scalars between the two `---` at the start of a Markdown file.
//!
//! Agent files are written for lenient tools: descriptions contain unquoted colons and much else that is not valid
//! YAML. So we read line by line what we can, and never fail.

use crate::lookalike;
use std::collections::BTreeMap;

/// A part of the front matter that was not understood. Everything else in it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The line in the file, from 1.
    pub line: usize,
    pub message: String,
}

/// The top-level scalar keys, as text. Lists and maps are ignored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frontmatter {
    keys: BTreeMap<String, String>,
    faults: Vec<Fault>,
}

/// Keys whose value must be text.
const TEXTS: [&str; 6] = ["name", "description", "mode", "epic", "story_slug", "ui"];

/// Splits a file into the text between the two `---`, if both exist, and the rest.
pub fn split(text: &str) -> (Option<&str>, &str) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| line.trim_end() == "---") else { return (None, text) };
    let mut at = first.len();
    for line in lines {
        let end = at + line.len();
        if matches!(line.trim_end(), "---" | "...") {
            return (Some(&text[first.len()..at]), &text[end..]);
        }
        at = end;
    }
    (None, text)
}

impl Frontmatter {
    /// Reads the front matter of `text`; `None` if there is none. If its end is missing, the lines that look like
    /// front matter are read.
    pub fn read(text: &str) -> Option<Self> {
        let (head, body) = split(text);
        if let Some(head) = head {
            return Some(keys(&head.lines().map(|line| line.trim_end()).collect::<Vec<_>>()));
        }
        let mut lines = body.lines().map(|line| line.trim_end());
        lines.next().filter(|line| *line == "---")?;
        let is_head = |line: &&str| {
            line.starts_with(['#', ' ', '\t']) || line.starts_with("- ") || entry(line).is_some()
        };
        let mut read = keys(&lines.take_while(is_head).collect::<Vec<_>>());
        read.faults.insert(
            0,
            Fault { line: 1, message: "the line \"---\" that ends the front matter is missing".to_owned() },
        );
        (!read.keys.is_empty()).then_some(read)
    }

    /// What was not understood, in the order of the text.
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// The text of a key.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.keys.get(key).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Whether the value of a key is `true`.
    pub fn is_true(&self, key: &str) -> bool {
        self.get(key).is_some_and(|value| value.eq_ignore_ascii_case("true"))
    }
}

fn keys(head: &[&str]) -> Frontmatter {
    let mut read = Frontmatter::default();
    // The whole front matter may be indented.
    let first = head.iter().find(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'));
    let indent = first.map_or("", |line| &line[..line.len() - line.trim_start().len()]);
    let head: Vec<&str> = head.iter().map(|line| line.strip_prefix(indent).unwrap_or(line)).collect();
    let mut at = 0;
    while at < head.len() {
        let line = head[at];
        at += 1;
        // `---` is line 1.
        let mut fault = |message: String| read.faults.push(Fault { line: at + 1, message });
        let Some((key, value)) = entry(line) else {
            if !(line.trim().is_empty() || line.starts_with('#') || line == "-" || line.starts_with("- ")) {
                fault(explain_line(line));
            }
            continue;
        };
        let start = at;
        let mut end = at;
        while end < head.len() && (head[end].is_empty() || head[end].starts_with([' ', '\t'])) {
            end += 1;
        }
        let more = &head[start..end];
        if read.keys.contains_key(key) {
            fault(format!("duplicate key \"{key}\": the last one counts"));
        }
        if let Some(quote) = value.chars().next().filter(|c| matches!(c, '"' | '\''))
            && !is_closed(value, more, quote)
        {
            fault(format!("the closing {quote} of \"{key}\" is missing"));
        }
        match scalar(value, more) {
            Some(value) => {
                read.keys.insert(key.to_owned(), value);
            }
            None if TEXTS.contains(&key) => fault(format!("\"{key}\" must be a text")),
            None => {}
        }
        at = end;
    }
    read
}

/// Explains why a line is not a key with a value.
fn explain_line(line: &str) -> String {
    let line = line.trim();
    let shown: String = lookalike::shown(line).chars().take(40).collect();
    let reason = match line.chars().find(|c| lookalike::is_like(*c, ":") || lookalike::is_blank(*c)) {
        Some(c) => lookalike::explained(c),
        None if line.contains(':') => "a space is missing after \":\"".to_owned(),
        None => "expected a key and \":\"".to_owned(),
    };
    format!("\"{shown}\" is not understood: {reason}")
}

fn is_closed(value: &str, more: &[&str], quote: char) -> bool {
    let whole = format!("{value} {}", more.join(" "));
    let mut rest = whole.trim_end()[1..].chars();
    while let Some(next) = rest.next() {
        match next {
            '\\' if quote == '"' => {
                rest.next();
            }
            '\'' if quote == '\'' && rest.as_str().starts_with('\'') => {
                rest.next();
            }
            _ if next == quote => return true,
            _ => {}
        }
    }
    false
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
    fn front_matter_of_people_and_tools_is_read() {
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
    fn a_file_without_complete_front_matter_has_none() {
        assert_eq!(Frontmatter::read("# Title\n---\nui: true\n---\n"), None);
        assert_eq!(Frontmatter::read("---\n# Title\n\nA rule above a title: no head.\n"), None);
        assert_eq!(Frontmatter::read(""), None);
    }

    fn faults(text: &str) -> Vec<(usize, String)> {
        let read = Frontmatter::read(text).unwrap();
        read.faults().iter().map(|fault| (fault.line, fault.message.clone())).collect()
    }

    #[test]
    fn front_matter_and_body_are_split_in_every_notation() {
        for text in [
            "---\nname: a\n---\nBody",
            "\u{feff}---\r\nname: a\r\n--- \t\r\nBody",
            "---  \nname: a\n...\nBody",
            "---\n\tname:\ta # why\n---\nBody",
            "---\n  # first\n  name: a\n  tools: [x]\n---\nBody",
        ] {
            assert_eq!(split(text).1, "Body", "{text:?}");
            assert_eq!(Frontmatter::read(text).unwrap().get("name"), Some("a"), "{text:?}");
            assert_eq!(faults(text), [], "{text:?}");
        }
        assert_eq!(split("\u{feff}# Title\n---\n"), (None, "# Title\n---\n"));
        assert_eq!(split("---\nname: a\nBody"), (None, "---\nname: a\nBody"), "a missing end hides nothing");
    }

    #[test]
    fn a_faulty_line_is_reported_with_its_number_and_the_rest_is_read() {
        let odd = "---\nname: [qa]\ndescription: \"not closed\nui: true\nepic：login\nmode:all\njust words\nui: false\nstory_slug: s\n---\n";
        let read = Frontmatter::read(odd).unwrap();
        assert_eq!((read.get("name"), read.get("description")), (None, Some("not closed")));
        assert_eq!((read.get("ui"), read.get("story_slug")), (Some("false"), Some("s")));
        let found = faults(odd);
        let lines: Vec<usize> = found.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [2, 3, 5, 6, 7, 8], "{found:?}");
        assert_eq!(found[0].1, "\"name\" must be a text");
        assert!(found[2].1.contains("U+FF1A FULLWIDTH COLON"), "{}", found[2].1);
        assert!(found[3].1.contains("a space is missing"), "{}", found[3].1);
        assert_eq!(found[5].1, "duplicate key \"ui\": the last one counts");
    }

    #[test]
    fn front_matter_without_an_end_is_read_as_far_as_it_looks_like_it() {
        let open = "---\nname: qa\ntools:\n- Read\nui: true\n\n# Title\nnote: not this\n";
        let read = Frontmatter::read(open).unwrap();
        assert_eq!((read.get("name"), read.get("note")), (Some("qa"), None));
        assert!(read.is_true("ui"));
        assert_eq!(faults(open)[0].0, 1);
        assert!(faults(open)[0].1.contains("is missing"));
    }
}
