//! Finds mappings and lists in brackets, which may span lines. It does not use a parser, because an unfinished text is
//! rarely valid YAML.

use crate::declaration::line::Line;

/// Maximum number of lines above that are searched for an open bracket.
const LOOK_BACK: usize = 200;
/// Maximum distance to search ahead for the rest of a mapping.
const LOOK_AHEAD: usize = 16 * 1024;

/// A character with a meaning in brackets, outside of quotes and comments.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    Open,
    Close,
    Colon,
    Comma,
}

/// Calls `visit` for every sign in a range, until it returns `false`.
fn signs(text: &str, from: usize, to: usize, visit: &mut impl FnMut(usize, Sign) -> bool) {
    // Quotes count only where a value or key may start; elsewhere they are apostrophes.
    let (mut fresh, mut quote, mut comment, mut escaped, mut blank) = (true, None, false, false, true);
    for (at, c) in text[from..to].char_indices() {
        let was_blank = std::mem::replace(&mut blank, c.is_whitespace());
        if comment {
            comment = c != '\n';
            continue;
        }
        if let Some(sign) = quote {
            match c {
                _ if escaped => escaped = false,
                '\\' if sign == '"' => escaped = true,
                _ if c == sign => quote = None,
                _ => {}
            }
            continue;
        }
        let next_blank =
            || text[from + at + 1..].chars().next().is_none_or(|c| c.is_whitespace() || c == '"');
        let sign = match c {
            '#' if was_blank => {
                comment = true;
                continue;
            }
            '"' | '\'' if fresh => {
                quote = Some(c);
                continue;
            }
            '{' | '[' => Sign::Open,
            '}' | ']' => Sign::Close,
            ',' => Sign::Comma,
            ':' if next_blank() => Sign::Colon,
            _ => {
                fresh = fresh && c.is_whitespace();
                continue;
            }
        };
        fresh = sign != Sign::Close;
        if !visit(from + at, sign) {
            return;
        }
    }
}

/// The brackets that open after `from` and are still open at `to`, outermost first.
fn open_at(text: &str, from: usize, to: usize) -> Vec<usize> {
    let mut open = Vec::new();
    signs(text, from, to, &mut |at, sign| {
        match sign {
            Sign::Open => open.push(at),
            Sign::Close => drop(open.pop()),
            Sign::Colon | Sign::Comma => {}
        }
        true
    });
    open
}

/// Where the value of a line starts, if it is an open bracket.
fn opens(text: &str, line: &Line) -> Option<usize> {
    let (start, end) = line.value?;
    let value = &text[start..end];
    (value.starts_with(['{', '[']) && !value.starts_with("{{")).then_some(start)
}

/// The line above whose brackets contain the given column of `line`, with the start of the outermost bracket.
pub fn around(text: &str, line: &Line, column: usize) -> Option<(Line, usize)> {
    let mut found = None;
    let mut at = line.clone();
    for _ in 0..LOOK_BACK {
        let Some(before) = at.before(text) else { break };
        if let Some(start) = opens(text, &before) {
            // A line that is not indented more than the key starts the next key: the closing bracket was forgotten.
            let own = if before.key.is_some() { before.inner } else { before.indented };
            if column > own - before.start && !open_at(text, start, line.start).is_empty() {
                found = Some((before.clone(), start));
            }
        }
        if before.column() == 0 {
            break;
        }
        at = before;
    }
    found
}

/// The text in a range, with comments replaced by blanks.
pub fn without_comments(text: &str, from: usize, to: usize) -> String {
    let mut clean = String::with_capacity(to - from);
    for line in text[from..to].split_inclusive('\n') {
        if line.trim_start().starts_with('#') && !clean.is_empty() {
            clean.extend(line.chars().map(|c| if c == '\n' { c } else { ' ' }));
        } else {
            clean.push_str(line);
        }
    }
    clean
}

/// The other keys in the innermost brackets around `offset` that open after `from`; none outside of brackets.
pub fn siblings(text: &str, from: usize, offset: usize) -> Option<Vec<String>> {
    let open = *open_at(text, from, offset).last()?;
    let mut end = text.len().min(open + LOOK_AHEAD).max(offset);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let (mut depth, mut start, mut keyed, mut keys) = (0_usize, open + 1, false, Vec::new());
    signs(text, open + 1, end, &mut |at, sign| {
        match sign {
            Sign::Open => depth += 1,
            Sign::Close if depth == 0 => return false,
            Sign::Close => depth -= 1,
            Sign::Colon if depth == 0 && !keyed => {
                let key = text[start..at].trim();
                // Skip the key that is being typed.
                if start + text[start..at].find(key).unwrap_or_default() > offset || offset > at {
                    keys.push(key.trim_matches(['"', '\'']).to_owned());
                }
                keyed = true;
            }
            Sign::Comma if depth == 0 => (start, keyed) = (at + 1, false),
            Sign::Colon | Sign::Comma => {}
        }
        true
    });
    Some(keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(text: &str) -> (Option<usize>, Option<Vec<String>>) {
        let offset = text.find('¦').unwrap();
        let text = text.replace('¦', "");
        let line = Line::at(&text, offset);
        let found = around(&text, &line, offset - line.start);
        let start = found.map(|(_, start)| start);
        (start, siblings(&text, start.unwrap_or(line.start), offset))
    }

    fn keys(all: &[&str]) -> Option<Vec<String>> {
        Some(all.iter().map(|key| (*key).to_owned()).collect())
    }

    #[test]
    fn brackets_are_matched_across_lines() {
        assert_eq!(seen("- {\n  agent: it's,\n  ¦\n  gate: auto }"), (Some(2), keys(&["agent", "gate"])));
        assert_eq!(seen("- {agent: a, # }\n   inputs: {b: \"}\",\n    ¦}}"), (Some(2), keys(&["b"])));
        assert_eq!(
            seen("a: [\n  {agent: x},\n  {agent: y, ¦},\n  {gate: auto}]"),
            (Some(3), keys(&["agent"]))
        );
        assert_eq!(seen("- {agent: a, g¦: b, when: c}"), (None, keys(&["agent", "when"])));
        assert_eq!(seen("- a: {b: c}\n    ¦"), (None, None));
        assert_eq!(seen("- a: {b: c\n    ¦"), (Some(5), keys(&["b"])), "deeper than the key");
        assert_eq!(seen("a: {b: c\n¦"), (None, None), "the bracket was forgotten");
        assert_eq!(seen("- when: {{x\n    ¦"), (None, None), "a variable without quotes");
    }
}
