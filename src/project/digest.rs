//! SHA-256 over named parts.

use sha2::{Digest as _, Sha256};

/// A digest in the making.
#[derive(Default)]
pub struct Digest(Sha256);

impl Digest {
    /// Feeds a name and its bytes, each with its length, so that no two lists of parts have the same digest.
    pub fn put(&mut self, name: &[u8], bytes: &[u8]) {
        for part in [name, bytes] {
            self.0.update((part.len() as u64).to_le_bytes());
            self.0.update(part);
        }
    }

    /// In hexadecimal.
    pub fn hex(self) -> String {
        self.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}
