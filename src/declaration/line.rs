//! Splits a line of YAML without a parser: indentation, dashes, key, value, comment.

/// The parts of a line, as offsets into the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub start: usize,
    /// End of the indentation.
    pub indented: usize,
    /// Start of the key or value, after any dashes.
    pub inner: usize,
    /// The key, without its colon.
    pub key: Option<(usize, usize)>,
    /// The value, or the whole item if there is no key; without surrounding white space and comment.
    pub value: Option<(usize, usize)>,
    /// End of the line, without its line break.
    pub end: usize,
}

impl Line {
    /// The line that contains `offset`.
    pub fn at(text: &str, offset: usize) -> Self {
        let mut offset = offset.min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let start = text[..offset].rfind('\n').map_or(0, |at| at + 1);
        let end = text[offset..].find('\n').map_or(text.len(), |at| offset + at);
        let end = start + text[start..end].trim_end_matches('\r').len();
        let line = &text[start..end];
        let indented = start + line.len() - line.trim_start().len();
        let mut inner = indented;
        while text[inner..end].starts_with("- ") {
            inner += 2;
            inner += text[inner..end].len() - text[inner..end].trim_start().len();
        }
        let key = key(&text[inner..end]).map(|length| (inner, inner + length));
        let from = key.map_or(inner, |(_, end)| end + 1).min(end);
        let value = value(&text[from..end]).map(|(start, length)| (from + start, from + start + length));
        Self { start, indented, inner, key, value, end }
    }

    /// The nearest earlier line that is neither blank nor a comment.
    pub fn before(&self, text: &str) -> Option<Self> {
        let mut start = self.start;
        while start > 0 {
            let line = Line::at(text, start - 1);
            if !line.is_blank(text) {
                return Some(line);
            }
            start = line.start;
        }
        None
    }

    /// The nearest later line that is neither blank nor a comment.
    pub fn after(&self, text: &str) -> Option<Self> {
        let mut line = self.clone();
        loop {
            let next = text[line.end..].find('\n').map(|at| line.end + at + 1)?;
            line = Line::at(text, next);
            if !line.is_blank(text) {
                return Some(line);
            }
        }
    }

    fn is_blank(&self, text: &str) -> bool {
        let content = text[self.start..self.end].trim();
        content.is_empty() || content.starts_with('#')
    }

    /// The line without its indentation.
    pub fn content(&self) -> (usize, usize) {
        (self.indented, self.end)
    }

    /// Column of the key or value.
    pub fn column(&self) -> usize {
        self.inner - self.start
    }
}

/// Length of the key at the start of `rest`.
fn key(rest: &str) -> Option<usize> {
    if rest.starts_with(['#', '[', '{', '|', '>']) {
        return None;
    }
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''));
    let from = quote.map_or(Some(0), |quote| rest[1..].find(quote).map(|at| at + 2))?;
    let colon = rest[from..].match_indices(':').map(|(at, _)| from + at).find(|&at| {
        let after = rest[at + 1..].chars().next();
        after.is_none_or(char::is_whitespace)
    })?;
    (colon > 0 && !rest[..colon].contains(" #")).then_some(colon)
}

/// Start and length of the value in `rest`.
fn value(rest: &str) -> Option<(usize, usize)> {
    let start = rest.len() - rest.trim_start().len();
    let text = &rest[start..];
    if text.is_empty() || text.starts_with('#') {
        return None;
    }
    let from = quoted_length(text).unwrap_or(0);
    // A "#" with text directly after it is probably not meant as a comment.
    let comment = text[from..]
        .match_indices(" #")
        .map(|(at, _)| from + at)
        .find(|&at| text[at + 2..].chars().next().is_none_or(|c| c.is_whitespace() || c == '#'));
    let length = text[..comment.unwrap_or(text.len())].trim_end().len();
    (length > 0).then_some((start, length))
}

/// Length of the quoted scalar at the start of `text`, if there is one that ends on this line.
pub fn quoted_length(text: &str) -> Option<usize> {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let mut chars = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        if quote == '"' && c == '\\' {
            chars.next();
        } else if c == quote {
            if quote == '\'' && chars.peek().is_some_and(|(_, next)| *next == '\'') {
                chars.next();
            } else {
                return Some(at + 1);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_split_into_its_parts() {
        let parts = |text: &str| {
            let line = Line::at(text, 0);
            let slice = |range: Option<(usize, usize)>| range.map(|(start, end)| text[start..end].to_owned());
            (slice(line.key), slice(line.value), line.column())
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(parts("  - agent: qa  # who\r\n"), (some("agent"), some("qa"), 4));
        assert_eq!(parts("description: fix #12: it"), (some("description"), some("fix #12: it"), 0));
        assert_eq!(parts("- - x"), (None, some("x"), 4));
        assert_eq!(parts("a: \"b # c\" # d"), (some("a"), some("\"b # c\""), 0));
        assert_eq!(parts("a:b"), (None, some("a:b"), 0));
        assert_eq!(parts("\"a b\": c"), (some("\"a b\""), some("c"), 0));
        assert_eq!(parts("   # only a comment"), (None, None, 3));
        assert_eq!(parts("a:"), (some("a"), None, 0));
    }
}
