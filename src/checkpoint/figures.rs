//! How far an agent is, read from its to-do list. Some keep none, some rewrite it, some clear it when it is done.

use crate::harness::TodoItem;

/// How far an agent is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Tasks in all; none before a list was seen.
    pub total: Option<u64>,
    /// Tasks done.
    pub done: u64,
    /// What is being done.
    pub current: Option<String>,
    /// The last one that was done.
    pub last: Option<String>,
    /// The phase that it is in, and how many there are, from 1.
    pub phase: Option<(u64, u64)>,
    /// The list as it was seen last.
    list: Vec<TodoItem>,
    /// What a finished list before this one held.
    carried: u64,
}

impl Figures {
    /// As an earlier launch of the same visit left them.
    pub fn going_on(tasks: Option<(u64, u64)>, last: Option<&str>) -> Self {
        Self {
            total: tasks.map(|(_, total)| total),
            done: tasks.map_or(0, |(done, _)| done),
            last: last.map(str::to_owned),
            ..Self::default()
        }
    }

    /// Takes a list, and says whether a task was done since the last one.
    ///
    /// An empty list says nothing: agents clear the list when they are done. A list that shares nothing with a
    /// finished one before it goes on from there; any other replaces the one before it.
    pub fn take(&mut self, list: &[TodoItem]) -> bool {
        if list.is_empty() {
            self.current = None;
            return false;
        }
        let shared = list.iter().any(|item| self.list.iter().any(|before| before.text == item.text));
        if !shared && !self.list.is_empty() && self.list.iter().all(done) {
            self.carried += self.list.len() as u64;
        }
        let newly = list.iter().rfind(|item| done(item) && !self.was_done(item));
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

    fn was_done(&self, item: &TodoItem) -> bool {
        self.list.iter().any(|before| before.text == item.text && done(before))
    }
}

fn done(item: &TodoItem) -> bool {
    item.status == "completed"
}

/// The phase of the item in hand: as the items name it (`Phase 2: …`), else the item's own number.
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

/// Open and finished boxes of a plan in Markdown (`- [ ]`, `- [x]`), as the tasks done and the tasks in all. Boxes of
/// sub-items count where there are no others.
pub fn boxes(text: &str) -> Option<(u64, u64)> {
    let mut outer = (0, 0);
    let mut inner = (0, 0);
    let mut fenced = false;
    for line in text.lines() {
        let item = line.trim_start();
        if item.starts_with("```") {
            fenced = !fenced;
        }
        let mark = ["- [", "* [", "+ ["].iter().find_map(|start| item.strip_prefix(start));
        let Some(mark) =
            mark.filter(|mark| !fenced && mark.get(1..3).is_some_and(|end| end.starts_with(']')))
        else {
            continue;
        };
        let counts = if line.len() == item.len() { &mut outer } else { &mut inner };
        counts.1 += 1;
        if mark.starts_with(['x', 'X']) {
            counts.0 += 1;
        }
    }
    let counts = if outer.1 > 0 { outer } else { inner };
    (counts.1 > 0).then_some(counts)
}
