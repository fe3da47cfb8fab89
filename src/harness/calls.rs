//! Tool calls that are open: by id, in the order in which they began, and never more than a bounded number.

use std::collections::{BTreeMap, HashMap};

/// An agent that opens more than this without closing one has lost count of them; the oldest are forgotten.
const MOST: usize = 4096;
/// A longer id is none that a tool gives.
const ID: usize = 256;

/// Open calls, each with what is known of it. Every operation is quick, however many are open.
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
    /// A call begins, or begins anew.
    pub fn open(&mut self, id: &str, call: T) {
        self.close(id);
        if id.len() > ID {
            return;
        }
        if self.calls.len() >= MOST
            && let Some((_, (oldest, _))) = self.calls.pop_first()
        {
            self.at.remove(&oldest);
        }
        self.at.insert(id.to_owned(), self.next);
        self.calls.insert(self.next, (id.to_owned(), call));
        self.next += 1;
    }

    /// A call is over.
    pub fn close(&mut self, id: &str) -> Option<T> {
        let at = self.at.remove(id)?;
        self.calls.remove(&at).map(|(_, call)| call)
    }

    /// What is known of a call.
    pub fn get(&self, id: &str) -> Option<&T> {
        self.calls.get(self.at.get(id)?).map(|(_, call)| call)
    }

    /// The same, to change it.
    pub fn get_mut(&mut self, id: &str) -> Option<&mut T> {
        self.calls.get_mut(self.at.get(id)?).map(|(_, call)| call)
    }

    /// The call that began last.
    pub fn newest(&self) -> Option<&T> {
        self.calls.values().next_back().map(|(_, call)| call)
    }

    /// All of them, with their ids, in the order in which they began.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &T)> {
        self.calls.values().map(|(id, call)| (id.as_str(), call))
    }

    /// Whether none is open.
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// All are over.
    pub fn clear(&mut self) {
        self.at.clear();
        self.calls.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_found_by_id_and_the_newest_is_known() {
        let mut calls = Calls::default();
        for n in 0..3 {
            calls.open(&format!("t{n}"), n);
        }
        assert_eq!((calls.get("t1"), calls.newest()), (Some(&1), Some(&2)));
        assert_eq!((calls.close("t2"), calls.close("t2"), calls.newest()), (Some(2), None, Some(&1)));
        calls.open("t0", 7);
        assert_eq!(calls.newest(), Some(&7), "begun anew");
        calls.clear();
        assert!(calls.is_empty());
    }

    #[test]
    fn a_flood_of_calls_is_bounded_and_quick() {
        let mut calls = Calls::default();
        for n in 0..1_000_000 {
            calls.open(&n.to_string(), n);
        }
        assert_eq!((calls.calls.len(), calls.at.len()), (MOST, MOST));
        assert_eq!((calls.get("0"), calls.newest()), (None, Some(&999_999)));
        calls.open(&"x".repeat(ID + 1), 0);
        assert_eq!(calls.newest(), Some(&999_999));
    }
}
