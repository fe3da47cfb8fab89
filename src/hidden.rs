//! Characters that are invisible or misleading. The Lua half reads the same table, which is a separate file.

use std::sync::LazyLock;

/// A range of characters with a name.
struct Range {
    first: u32,
    last: u32,
    name: &'static str,
}

/// Characters that are harmless after certain others.
struct Fine {
    characters: (u32, u32),
    after: (u32, u32),
}

struct Table {
    hidden: Vec<Range>,
    fine: Vec<Fine>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| read(include_str!("../lua/superpower/base/hidden.lua")));

/// Parses the rows: `{ 0x200b, 0x200b, "NAME" },` and `{ 0xfe0e, 0xfe0f, 0x0023, 0x0023 },`.
fn read(text: &'static str) -> Table {
    let mut table = Table { hidden: Vec::new(), fine: Vec::new() };
    for line in text.lines() {
        let Some(row) = line.trim().strip_prefix("{ ").and_then(|rest| rest.strip_suffix(" },")) else {
            continue;
        };
        let parts: Vec<&'static str> = row.split(", ").collect();
        let number = |at: usize| {
            let digits = parts.get(at)?.strip_prefix("0x")?;
            u32::from_str_radix(digits, 16).ok()
        };
        match (number(0), number(1), number(2), number(3)) {
            (Some(first), Some(last), Some(from), Some(to)) => {
                table.fine.push(Fine { characters: (first, last), after: (from, to) });
            }
            (Some(first), Some(last), None, None) => {
                let name = parts.get(2).map_or("", |name| name.trim_matches('"'));
                table.hidden.push(Range { first, last, name });
            }
            _ => {}
        }
    }
    table
}

fn within(code: u32, (first, last): (u32, u32)) -> bool {
    (first..=last).contains(&code)
}

/// The name of a hidden character, or of its block.
pub fn name(letter: char) -> Option<&'static str> {
    let code = u32::from(letter);
    if code < 0x80 {
        return None;
    }
    let hidden = &TABLE.hidden;
    let range = &hidden[hidden.partition_point(|range| range.last < code)..].first()?;
    (range.first <= code).then_some(range.name)
}

/// Whether `letter` is harmless directly after `before`, as in emoji and some scripts.
pub fn is_fine(letter: char, before: Option<char>) -> bool {
    let Some(before) = before.map(u32::from) else { return false };
    let code = u32::from(letter);
    TABLE.fine.iter().any(|fine| within(code, fine.characters) && within(before, fine.after))
}
