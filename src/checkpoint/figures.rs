//! Progress of an agent, computed from its to-do list. Some agents keep no list, some rewrite it, some clear it when
//! they finish.

use crate::harness::TodoItem;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// How far an agent is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Figures {
    /// All tasks; `None` until a list was seen.
    pub total: Option<u64>,
    pub done: u64,
    /// The task in progress.
    pub current: Option<String>,
    /// The last finished task.
    pub last: Option<String>,
    /// The current phase, counted from 1, and the number of phases.
    pub phase: Option<(u64, u64)>,
    /// The most recent list.
    list: Vec<TodoItem>,
    /// Tasks of finished lists before this one.
    carried: u64,
}

impl Figures {
    /// The progress that earlier launches of the same visit have recorded.
    pub fn resumed(tasks: Option<(u64, u64)>, last: Option<&str>) -> Self {
        Self {
            total: tasks.map(|(_, total)| total),
            done: tasks.map_or(0, |(done, _)| done),
            last: last.map(str::to_owned),
            ..Self::default()
        }
    }

    /// Whether no list was seen yet.
    pub const fn is_new(&self) -> bool {
        self.list.is_empty()
    }

    /// Updates the progress from a list, and returns whether a task was finished since the last one.
    ///
    /// An empty list is ignored, because agents clear the list when they finish. A list that shares no task with a
    /// finished one before it is added to that one; any other list replaces the one before it.
    pub fn take(&mut self, list: &[TodoItem]) -> bool {
        if list.is_empty() {
            self.current = None;
            return false;
        }
        let known: HashSet<&str> = self.list.iter().map(|item| item.text.as_str()).collect();
        let shared = list.iter().any(|item| known.contains(item.text.as_str()));
        if !shared && !self.list.is_empty() && self.list.iter().all(done) {
            self.carried += self.list.len() as u64;
        }
        let ended: HashSet<&str> =
            self.list.iter().filter(|item| done(item)).map(|item| item.text.as_str()).collect();
        let newly = list.iter().rfind(|item| done(item) && !ended.contains(item.text.as_str()));
        let progressed = newly.is_some();
        if let Some(item) = newly {
            self.last = Some(item.text.clone());
        }
        self.total = Some(self.carried + list.len() as u64);
        self.done = self.carried + list.iter().filter(|item| done(item)).count() as u64;
        let current = list.iter().position(|item| item.status == "in_progress");
        self.current = current.map(|index| list[index].text.clone());
        self.phase = phase(list, current);
        self.list = list.to_vec();
        progressed
    }
}

fn done(item: &TodoItem) -> bool {
    item.status == "completed"
}

/// The phase of the current item: from its text (`Phase 2: …`), else the item's number.
fn phase(list: &[TodoItem], current: Option<usize>) -> Option<(u64, u64)> {
    let finished = list.iter().filter(|item| done(item)).count();
    let index = current.unwrap_or_else(|| finished.min(list.len() - 1));
    let named: Vec<_> = list.iter().map(|item| named_phase(&item.text)).collect();
    let most = named.iter().flatten().max();
    match (named[index], most) {
        (Some(phase), Some(most)) => Some((phase, *most)),
        _ => Some((index as u64 + 1, list.len() as u64)),
    }
}

fn named_phase(text: &str) -> Option<u64> {
    let rest = text.trim_start_matches(|letter: char| !letter.is_alphanumeric());
    let rest = rest.get(..5).filter(|word| word.eq_ignore_ascii_case("phase")).map(|_| &rest[5..])?;
    let digits: String = rest.trim_start().chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok().filter(|phase| *phase > 0)
}

/// Counts the boxes of a Markdown plan (`- [ ]`, `- [x]`): finished tasks and all tasks.
pub fn boxes(text: &str) -> Option<(u64, u64)> {
    let items = items(text);
    let finished = items.iter().filter(|item| done(item)).count() as u64;
    (!items.is_empty()).then_some((finished, items.len() as u64))
}

/// The boxes of a plan as a to-do list. Boxes of sub-items count only if there are no others; `[~]` is in progress.
pub fn items(text: &str) -> Vec<TodoItem> {
    let (mut outer, mut inner) = (Vec::new(), Vec::new());
    let mut fenced = false;
    for line in text.lines() {
        let item = line.trim_start();
        if item.starts_with("```") {
            fenced = !fenced;
        }
        let Some(item_of_box) = boxed(item).filter(|_| !fenced) else { continue };
        let list = if line.len() == item.len() { &mut outer } else { &mut inner };
        list.push(item_of_box);
    }
    if outer.is_empty() { inner } else { outer }
}

/// The item of a line that begins with a box.
fn boxed(line: &str) -> Option<TodoItem> {
    let rest = ["- [", "* [", "+ ["].iter().find_map(|start| line.strip_prefix(start))?;
    let mut letters = rest.chars();
    let mark = letters.next().filter(char::is_ascii)?;
    let text = letters.as_str().strip_prefix(']')?;
    let status = match mark {
        'x' | 'X' => "completed",
        '~' => "in_progress",
        _ => "pending",
    };
    Some(TodoItem { text: text.trim().to_owned(), status: status.to_owned() })
}
