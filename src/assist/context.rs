//! Finds the context of the cursor from lines and indentation alone, because an unfinished text is rarely valid YAML.

use super::flow;
use crate::declaration::keys::{Level, Takes};
use crate::declaration::line::Line;

/// The kind of place that is completed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A key of a mapping.
    Key(Level),
    /// A name in a stage's `inputs`.
    InputKey,
    /// A value, or a part of it.
    Value(Value),
}

/// A value that is being typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// The level of the value's key.
    pub level: Level,
    /// Its key; for a value in a stage's `inputs`, `inputs`.
    pub key: String,
    /// The text between the start of the value and the cursor, without the opening quote.
    pub before: String,
    /// Whether it is in quotes or a block, where any character is allowed.
    pub quoted: bool,
    /// The surrounding quote character.
    pub sign: Option<char>,
    /// Whether it is an item of a list, in brackets or on lines.
    pub item: bool,
}

/// The place, and where the word before the cursor starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    /// The place.
    pub place: Place,
    /// The keys above it, outermost first.
    pub path: Vec<String>,
    /// Column of the line's key or item.
    pub column: usize,
    /// Earliest offset of the brackets around it.
    pub from: usize,
}

/// Maximum number of lines that are searched for parent keys.
const LOOK_BACK: usize = 5_000;

/// The context at `offset`.
pub fn at(text: &str, offset: usize) -> Option<Context> {
    let line = Line::at(text, offset);
    let offset = offset.clamp(line.start, line.end);
    let head = &text[line.start..offset];
    if head.trim_start().starts_with('#') {
        return None;
    }
    let column = line.inner.min(offset) - line.start;
    let column = if head.ends_with('-') && head.trim() == "-" { column + 2 } else { column };
    if let Some((opener, from)) = flow::around(text, &line, column) {
        let (mut path, _) = above(text, &opener, opener.column());
        path.extend(opener.key.map(|(start, end)| text[start..end].trim_matches(['"', '\'']).to_owned()));
        let rest = flow::without_comments(text, from, offset);
        let place = place(&mut path, opener.key.is_some(), &rest)?;
        return Some(Context { place, path, column, from });
    }
    let (mut path, block) = above(text, &line, column);
    if let Some(key) = block {
        // The line is inside a multi-line text.
        let level = level(&path)?;
        let before = text[line.indented.min(offset)..offset].to_owned();
        return Some(Context {
            place: Place::Value(Value { level, key, before, quoted: true, sign: None, item: false }),
            path,
            column,
            from: offset,
        });
    }
    let key =
        line.key.filter(|key| key.1 < offset).map(|(start, end)| text[start..end].trim_matches(['"', '\'']));
    let from = key.map_or(line.inner, |_| line.key.map_or(line.inner, |key| key.1 + 1)).min(offset);
    let rest = &text[from..offset];
    if let Some(key) = key {
        if !rest.starts_with([' ', '\t']) {
            return None;
        }
        path.push(key.to_owned());
    }
    let place = place(&mut path, key.is_some(), rest.trim_start())?;
    Some(Context { place, path, column, from })
}

/// The parent keys of a line, outermost first, and the key of the multi-line text that contains the line, if any.
fn above(text: &str, line: &Line, column: usize) -> (Vec<String>, Option<String>) {
    let (mut path, mut block) = (Vec::new(), None);
    let mut column = column;
    let mut at = line.clone();
    for _ in 0..LOOK_BACK {
        let Some(before) = at.before(text) else { break };
        if let Some((start, end)) = before.key.filter(|_| before.column() < column) {
            let key = text[start..end].trim_matches(['"', '\'']).to_owned();
            let value = before.value.map_or("", |(start, end)| &text[start..end]);
            if path.is_empty() && value.starts_with(['|', '>']) {
                block = Some(key);
            } else {
                path.push(key);
            }
            column = before.column();
        }
        if column == 0 {
            break;
        }
        at = before;
    }
    path.reverse();
    (path, block)
}

/// The level of a mapping below these keys.
fn level(path: &[String]) -> Option<Level> {
    let names: Vec<&str> = path.iter().map(String::as_str).collect();
    match names.as_slice() {
        [] => Some(Level::Top),
        ["inputs"] => Some(Level::Input),
        ["stages"] => Some(Level::Stage),
        ["stages", "expects"] => Some(Level::Expects),
        _ => None,
    }
}

/// The place after `rest`, the part of the line that follows a key (the last of `path`) or a dash.
fn place(path: &mut Vec<String>, after_key: bool, rest: &str) -> Option<Place> {
    // Brackets open levels of their own; the innermost open one counts.
    let mut brackets: Vec<char> = Vec::new();
    let mut keys: Vec<bool> = Vec::new();
    let mut quote: Option<char> = None;
    let mut start = 0;
    let mut awaits_value = after_key;
    for (index, c) in rest.char_indices() {
        let flow = !brackets.is_empty() || rest[start..index].trim().is_empty();
        match (quote, c) {
            (Some(sign), c) if c == sign => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') if rest[start..index].trim().is_empty() => quote = Some(c),
            (None, '{') if flow && rest[index..].starts_with("{{") && awaits_value => {}
            (None, '{') if flow && rest[start..index].trim().is_empty() => {
                brackets.push('{');
                keys.push(false);
                (start, awaits_value) = (index + 1, false);
            }
            (None, '[') if flow && rest[start..index].trim().is_empty() => {
                brackets.push('[');
                keys.push(false);
                (start, awaits_value) = (index + 1, true);
            }
            (None, ':') if brackets.last() == Some(&'{') && !awaits_value => {
                path.push(rest[start..index].trim().trim_matches(['"', '\'']).to_owned());
                *keys.last_mut()? = true;
                (start, awaits_value) = (index + 1, true);
            }
            (None, ',') if !brackets.is_empty() => {
                if std::mem::take(keys.last_mut()?) {
                    path.pop();
                }
                (start, awaits_value) = (index + 1, brackets.last() == Some(&'['));
            }
            (None, '}' | ']') if !brackets.is_empty() && !rest[start..=index].ends_with("}}") => {
                brackets.pop();
                if keys.pop()? {
                    path.pop();
                }
                start = index + 1;
            }
            _ => {}
        }
    }
    let written = rest[start..].trim_start();
    let before = written.trim_start_matches(['"', '\'']).to_owned();
    let value = |level, key: &str, item| {
        let quoted = quote.is_some();
        Some(Place::Value(Value {
            level,
            key: key.to_owned(),
            before: before.clone(),
            quoted,
            sign: quote,
            item,
        }))
    };
    let key_position = !awaits_value && (!brackets.is_empty() || !after_key);
    let names: Vec<&str> = path.iter().map(String::as_str).collect();
    match names.as_slice() {
        ["stages", "inputs"] if key_position => Some(Place::InputKey),
        ["stages", "inputs", _] if !key_position => value(Level::Stage, "inputs", false),
        [above @ .., key] if !key_position || takes_items(above, key) => {
            let level = level(&above.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())?;
            value(level, key, brackets.last() == Some(&'[') || (brackets.is_empty() && !after_key))
        }
        _ if key_position => level(path).map(Place::Key),
        _ => None,
    }
}

/// Whether the lines below a key are single values rather than mappings.
fn takes_items(above: &[&str], key: &str) -> bool {
    let above: Vec<String> = above.iter().map(|name| (*name).to_owned()).collect();
    level(&above)
        .and_then(|level| level.key(key))
        .is_some_and(|key| matches!(key.takes, Takes::Texts | Takes::Stages))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The place at the `¦` in a text.
    fn seen(text: &str) -> Option<Place> {
        let offset = text.find('¦').unwrap();
        let place = at(&text.replace('¦', ""), offset)?.place;
        Some(match place {
            Place::Value(value) => Place::Value(Value { sign: None, ..value }),
            place => place,
        })
    }

    fn value(level: Level, key: &str, before: &str, quoted: bool, item: bool) -> Option<Place> {
        let (key, before) = (key.to_owned(), before.to_owned());
        Some(Place::Value(Value { level, key, before, quoted, sign: None, item }))
    }

    #[test]
    fn the_place_is_found_from_lines_and_indentation() {
        assert_eq!(seen("¦"), Some(Place::Key(Level::Top)));
        assert_eq!(seen("na¦"), Some(Place::Key(Level::Top)));
        assert_eq!(seen("name: x\nstages:\n  - ag¦"), Some(Place::Key(Level::Stage)));
        assert_eq!(seen("stages:\n- agent: a\n  ¦"), Some(Place::Key(Level::Stage)));
        assert_eq!(seen("stages:\n  -¦"), Some(Place::Key(Level::Stage)));
        assert_eq!(seen("stages:\n  - agent: a\n    expects:\n      ¦"), Some(Place::Key(Level::Expects)));
        assert_eq!(seen("inputs:\n  - name: a\n    ty¦"), Some(Place::Key(Level::Input)));
        assert_eq!(seen("stages:\n  - agent: a\n    inputs:\n      ¦"), Some(Place::InputKey));
        assert_eq!(seen("stages:\n  - agent: sp¦"), value(Level::Stage, "agent", "sp", false, false));
        assert_eq!(
            seen("stages:\n  - agent: ¦\n    gate: auto"),
            value(Level::Stage, "agent", "", false, false)
        );
        assert_eq!(seen("stages:\n  - when: \"{{sc¦"), value(Level::Stage, "when", "{{sc", true, false));
        assert_eq!(seen("stages:\n  - when: {{sc¦"), value(Level::Stage, "when", "{{sc", false, false));
        assert_eq!(
            seen("stages:\n  - when: |\n      a ||\n      b¦"),
            value(Level::Stage, "when", "b", true, false)
        );
        assert_eq!(
            seen("stages:\n  - depends_on: [a, b¦"),
            value(Level::Stage, "depends_on", "b", false, true)
        );
        assert_eq!(
            seen("stages:\n  - depends_on:\n      - a¦"),
            value(Level::Stage, "depends_on", "a", false, true)
        );
        assert_eq!(seen("stages:\n  - {agent: q¦"), value(Level::Stage, "agent", "q", false, false));
        assert_eq!(seen("stages:\n  - {agent: q, ga¦"), Some(Place::Key(Level::Stage)));
        assert_eq!(
            seen("stages:\n  - inputs: {a: \"{{e¦"),
            value(Level::Stage, "inputs", "{{e", true, false)
        );
        assert_eq!(
            seen("stages:\n  - inputs:\n      a: {{e¦"),
            value(Level::Stage, "inputs", "{{e", false, false)
        );
        assert_eq!(
            seen("inputs:\n  - type: enum\n    enum: [a, ¦"),
            value(Level::Input, "enum", "", false, true)
        );
        assert_eq!(seen("stages:\n  - {\n    agent: a, # b\n    ¦\n    }"), Some(Place::Key(Level::Stage)));
        assert_eq!(
            seen("stages: [\n  {agent: a},\n  {agent: b¦"),
            value(Level::Stage, "agent", "b", false, false)
        );
        assert_eq!(seen("stages:\n  - agent: a\n    inputs: {a: b,\n      ¦"), Some(Place::InputKey));
        assert_eq!(
            seen("stages:\n  - {\n    depends_on: [\n      a,\n      ¦"),
            value(Level::Stage, "depends_on", "", false, true)
        );
        assert_eq!(seen("x-mine:\n  - ¦"), None);
        assert_eq!(seen("name:¦"), None);
        assert_eq!(seen("# na¦"), None);
    }
}
