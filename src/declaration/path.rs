//! The path to a value, for example `stages[2].gate`. It is stored as numbers, and formatted only for a problem.

use super::yaml::{Kind, NodeId, Tree};

/// Maximum depth of a declaration's values; of a deeper path, the outer part is reported.
const MOST: usize = 5;
/// Marks an item; the other bits are its index. Without the mark it is the node of a key; 0 is the end, because a key
/// is never the root.
const ITEM: u32 = 1 << 31;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    steps: [u32; MOST],
    /// A missing key at the end of the path.
    missing: Option<&'static str>,
}

impl Path {
    /// The path to the whole document.
    pub const TOP: Self = Self { steps: [0; MOST], missing: None };

    fn with(mut self, step: u32) -> Self {
        if let Some(end) = self.steps.iter_mut().find(|step| **step == 0) {
            *end = step;
        }
        self
    }

    /// The path to the value of a key. The key must be a scalar or an alias of one.
    pub fn key(self, key: NodeId) -> Self {
        self.with(key.index())
    }

    /// The path to an item, counted from 0.
    pub fn item(self, index: usize) -> Self {
        self.with(u32::try_from(index + 1).unwrap_or(u32::MAX) | ITEM)
    }

    /// The path to a missing key.
    pub fn missing(self, name: &'static str) -> Self {
        Self { missing: Some(name), ..self }
    }

    /// The index of the item at its end.
    pub fn number(self) -> u32 {
        self.steps
            .iter()
            .rfind(|step| **step != 0)
            .filter(|step| **step & ITEM != 0)
            .map_or(1, |step| step & !ITEM)
    }

    /// Formats the path.
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
