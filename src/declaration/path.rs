//! The way to a value, e.g. `stages[2].gate`: kept as numbers, and put into words only where a fault is told.

use super::yaml::{Kind, NodeId, Tree};

/// No declaration's values lie deeper; of what does, the outer part is told.
const MOST: usize = 5;
/// Marks an item; the rest is its number. Without the mark it is a key's node, and 0 is the end: no key is the root.
const ITEM: u32 = 1 << 31;

/// A way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    steps: [u32; MOST],
    /// A key at its end that is not in the text.
    missing: Option<&'static str>,
}

impl Path {
    /// The way to the whole document.
    pub const TOP: Self = Self { steps: [0; MOST], missing: None };

    fn with(mut self, step: u32) -> Self {
        if let Some(end) = self.steps.iter_mut().find(|step| **step == 0) {
            *end = step;
        }
        self
    }

    /// On to the value of a key, which is a scalar or stands for one.
    pub fn key(self, key: NodeId) -> Self {
        self.with(key.index())
    }

    /// On to an item, counted from 0.
    pub fn item(self, index: usize) -> Self {
        self.with(u32::try_from(index + 1).unwrap_or(u32::MAX) | ITEM)
    }

    /// On to a key that is not there.
    pub fn missing(self, name: &'static str) -> Self {
        Self { missing: Some(name), ..self }
    }

    /// The number of the item at its end.
    pub fn number(self) -> u32 {
        self.steps
            .iter()
            .rfind(|step| **step != 0)
            .filter(|step| **step & ITEM != 0)
            .map_or(1, |step| step & !ITEM)
    }

    /// In words.
    pub fn words(self, tree: &Tree) -> String {
        let mut words = String::new();
        let name = |words: &mut String, name: &str| {
            if !words.is_empty() {
                words.push('.');
            }
            words.push_str(name);
        };
        for step in self.steps.into_iter().take_while(|step| *step != 0) {
            if step & ITEM != 0 {
                words.push_str(&format!("[{}]", step & !ITEM));
            } else if let Kind::Scalar { text, .. } = &tree.node(tree.resolve(NodeId::at(step)).0).kind {
                name(&mut words, text);
            }
        }
        if let Some(missing) = self.missing {
            name(&mut words, missing);
        }
        words
    }
}
