//! Guesses for lines that are indented too much or too little.

use super::guess::Guess;
use crate::declaration::line::Line;
use crate::declaration::yaml::Stop;

/// Maximum number of lines above that are searched for other indentations.
const LOOK_BACK: usize = 200;

/// Other indentations for the line of an error or the line before it, all equally likely.
pub fn guesses(text: &str, stop: &Stop) -> Vec<Guess> {
    let here = Line::at(text, stop.offset);
    let mut found = Vec::new();
    found.extend(others(text, &here).into_iter().map(|column| reindent(&here, column)));
    if let Some(before) = here.before(text) {
        let column = here.indented - here.start;
        if before.indented - before.start != column {
            found.push(reindent(&before, column));
        }
    }
    found
}

/// Start columns of the lines above and of their keys, nearest first.
fn others(text: &str, line: &Line) -> Vec<usize> {
    let own = line.indented - line.start;
    let mut columns = Vec::new();
    let mut at = line.clone();
    for _ in 0..LOOK_BACK {
        let Some(before) = at.before(text) else { break };
        for column in [before.column(), before.indented - before.start] {
            if column != own && !columns.contains(&column) {
                columns.push(column);
            }
        }
        at = before;
    }
    columns.sort_by_key(|column| column.abs_diff(own));
    columns.truncate(6);
    columns
}

fn reindent(line: &Line, column: usize) -> Guess {
    let own = line.indented - line.start;
    Guess {
        span: (line.indented, line.key.map_or(line.end, |(_, end)| end)),
        message: format!("an indentation of {own} matches no line above: indent by {column}"),
        title: format!("indent by {column}"),
        edits: vec![(line.start, line.indented, " ".repeat(column))],
        shown: None,
        also: Vec::new(),
    }
}
