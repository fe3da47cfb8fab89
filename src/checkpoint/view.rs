//! Checkpoints to show: in the window, and by `:Superpower why`.

use super::record::Record;
use super::status::{read_time, stamp};
use crate::tolerant::kept::for_people;
use serde::Serialize;

/// One checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Its key.
    pub key: String,
    /// Its status as it stands there, a foreign one included.
    pub status: String,
    /// Who executes it.
    pub agent: Option<String>,
    /// Tasks done.
    pub done: Option<u64>,
    /// Tasks in all.
    pub total: Option<u64>,
    /// What is being done, or was done last.
    pub task: Option<String>,
    /// A summary, or what went wrong.
    pub notes: Option<String>,
    /// When it was written last.
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

/// The same for people, one line each, and what other tools wrote that the protocol does not define.
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
        line.push_str(&format!(" · {}", without_marks(text)));
    }
    if let Some(time) = row.last_updated.as_deref().and_then(read_time) {
        line.push_str(&format!(" · {}", time.format("%Y-%m-%d %H:%M UTC")));
    }
    line
}

/// A report often begins with a heading, whose marks say nothing in one line; `#7` is none.
fn without_marks(text: &str) -> &str {
    let heading = text.trim_start_matches('#');
    if heading.starts_with(char::is_whitespace) { heading.trim() } else { text.trim() }
}

#[cfg(test)]
mod tests {
    use super::without_marks;

    #[test]
    fn a_headings_marks_go_and_a_number_stays() {
        for (text, shown) in
            [("## Fine ", "Fine"), ("#7 is mended", "#7 is mended"), (" plain", "plain"), ("#", "#")]
        {
            assert_eq!(without_marks(text), shown);
        }
    }
}
