//! The known keys of a mapping, with their values.

use super::draft::Slot;
use super::keys::Key;

/// The known keys of one mapping.
pub struct Fields {
    /// In the order of the text, each once.
    pub entries: Vec<(&'static Key, Slot)>,
    /// Where the mapping stands.
    pub slot: Slot,
    /// Whether a key was refused that may stand for others.
    pub unsure: bool,
}

impl Fields {
    /// The value of a key.
    pub fn get(&self, name: &str) -> Option<&Slot> {
        self.entries.iter().find(|(key, _)| key.name == name).map(|(_, slot)| slot)
    }
}
