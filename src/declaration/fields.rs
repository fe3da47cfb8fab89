//! The known keys of a mapping, with their values.

use super::draft::Slot;
use super::keys::Key;

/// The known keys of one mapping.
pub struct Fields {
    /// Each known key once, in the order of the text.
    pub entries: Vec<(&'static Key, Slot)>,
    pub slot: Slot,
    /// Whether a key was refused that may have meant other keys.
    pub unsure: bool,
}

impl Fields {
    /// The value of a key.
    pub fn get(&self, name: &str) -> Option<&Slot> {
        self.entries.iter().find(|(key, _)| key.name == name).map(|(_, slot)| slot)
    }
}
