//! Open tool calls, by id and in the order in which they started. Their number is bounded.

use std::collections::{BTreeMap, HashMap};

/// Maximum number of open calls; beyond it the oldest are dropped, because the agent has lost track of them.
const MAX_OPEN: usize = 4096;
/// Maximum length of an id, in bytes.
const MAX_ID: usize = 256;

/// Open calls, each with a value. Every operation is fast, however many are open.
#[derive(Clone, Debug)]
pub struct Calls<T> {
    at: HashMap<String, u64>,
    calls: BTreeMap<u64, (String, T)>,
    next: u64,
}

impl<T> Default for Calls<T> {
    fn default() -> Self {
        Self { at: HashMap::new(), calls: BTreeMap::new(), next: 0 }
    }
}

impl<T> Calls<T> {
    /// Opens a call; one that is open already is opened again.
    pub fn open(&mut self, id: &str, call: T) {
        self.close(id);
        if id.len() > MAX_ID {
            return;
        }
        if self.calls.len() >= MAX_OPEN
            && let Some((_, (oldest, _))) = self.calls.pop_first()
        {
            self.at.remove(&oldest);
        }
        self.at.insert(id.to_owned(), self.next);
        self.calls.insert(self.next, (id.to_owned(), call));
        self.next += 1;
    }

    /// Closes a call and returns its value.
    pub fn close(&mut self, id: &str) -> Option<T> {
        let at = self.at.remove(id)?;
        self.calls.remove(&at).map(|(_, call)| call)
    }

    /// The value of an open call.
    pub fn get(&self, id: &str) -> Option<&T> {
        self.calls.get(self.at.get(id)?).map(|(_, call)| call)
    }

    /// The value of an open call, to change it.
    pub fn get_mut(&mut self, id: &str) -> Option<&mut T> {
        self.calls.get_mut(self.at.get(id)?).map(|(_, call)| call)
    }

    /// The value of the call that was opened last.
    pub fn newest(&self) -> Option<&T> {
        self.calls.values().next_back().map(|(_, call)| call)
    }

    /// All of them, with their ids, in the order in which they began.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &T)> {
        self.calls.values().map(|(id, call)| (id.as_str(), call))
    }

    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    pub fn clear(&mut self) {
        self.at.clear();
        self.calls.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_found_by_id_and_the_newest_call_is_known() {
        let mut calls = Calls::default();
        for n in 0..3 {
            calls.open(&format!("t{n}"), n);
        }
        assert_eq!((calls.get("t1"), calls.newest()), (Some(&1), Some(&2)));
        assert_eq!((calls.close("t2"), calls.close("t2"), calls.newest()), (Some(2), None, Some(&1)));
        calls.open("t0", 7);
        assert_eq!(calls.newest(), Some(&7), "opened again");
        calls.clear();
        assert!(calls.is_empty());
    }

    #[test]
    fn many_open_calls_stay_bounded_and_fast() {
        let mut calls = Calls::default();
        for n in 0..1_000_000 {
            calls.open(&n.to_string(), n);
        }
        assert_eq!((calls.calls.len(), calls.at.len()), (MAX_OPEN, MAX_OPEN));
        assert_eq!((calls.get("0"), calls.newest()), (None, Some(&999_999)));
        calls.open(&"x".repeat(MAX_ID + 1), 0);
        assert_eq!(calls.newest(), Some(&999_999));
    }
}
