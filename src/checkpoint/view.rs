//! Checkpoints for display: in the window, and in `:Superpower why`.

use super::record::Record;
use super::status::{read_time, stamp};
use crate::tolerant::kept::for_people;
use serde::Serialize;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    pub key: String,
    /// As written; another tool's status is possible.
    pub status: String,
    pub agent: Option<String>,
    pub done: Option<u64>,
    pub total: Option<u64>,
    /// The task in progress, or the last finished one.
    pub task: Option<String>,
    /// A summary, or what went wrong.
    pub notes: Option<String>,
    /// When it was last written.
    pub last_updated: Option<String>,
    /// Whether the track is at this step.
    pub current: bool,
}

/// All checkpoints of a document, in its order.
pub fn rows(record: &Record) -> Vec<Row> {
    let at = record.current_step();
    let row = |(key, view): (&str, super::record::View<'_>)| {
        let tasks = view.tasks();
        Row {
            key: for_people(key),
            status: for_people(view.status_text().unwrap_or("NOT_STARTED")),
            agent: view.agent().map(for_people),
            done: tasks.map(|(done, _)| done),
            total: tasks.map(|(_, total)| total),
            task: view.current_task().or_else(|| view.last_task()).map(for_people),
            notes: view.notes().map(for_people),
            last_updated: view.last_updated().map(stamp),
            current: at == Some(key),
        }
    };
    record.checkpoints().map(row).collect()
}

/// All checkpoints as lines of text, followed by values that the protocol does not define.
pub fn lines(record: &Record) -> Vec<String> {
    let mut lines: Vec<String> = rows(record).iter().map(line).collect();
    lines.extend(record.foreign().into_iter().map(|foreign| format!("from another tool: {foreign}")));
    lines
}

fn line(row: &Row) -> String {
    let mut line = format!("{} {}", row.key, row.status);
    if let (Some(done), Some(total)) = (row.done, row.total) {
        line.push_str(&format!(" · {done}/{total}"));
    }
    for text in [&row.task, &row.notes].into_iter().flatten() {
        line.push_str(&format!(" · {}", without_heading_marks(text)));
    }
    if let Some(time) = row.last_updated.as_deref().and_then(read_time) {
        line.push_str(&format!(" · {}", time.format("%Y-%m-%d %H:%M UTC")));
    }
    line
}

/// Removes the marks of a Markdown heading, with which reports often begin. `#7` is not a heading.
fn without_heading_marks(text: &str) -> &str {
    let heading = text.trim_start_matches('#');
    if heading.starts_with(char::is_whitespace) { heading.trim() } else { text.trim() }
}

#[cfg(test)]
mod tests {
    use super::without_heading_marks;

    #[test]
    fn heading_marks_are_removed_but_issue_numbers_stay() {
        for (text, shown) in
            [("## Fine ", "Fine"), ("#7 is fixed", "#7 is fixed"), (" plain", "plain"), ("#", "#")]
        {
            assert_eq!(without_heading_marks(text), shown);
        }
    }
}
