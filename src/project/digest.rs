//! SHA-256 over named parts.

use sha2::{Digest as _, Sha256};

/// A digest that is being computed.
#[derive(Default)]
pub struct Digest(Sha256);

impl Digest {
    /// Adds a name and its bytes, each with its length, so that different lists of parts have different digests.
    pub fn put(&mut self, name: &[u8], bytes: &[u8]) {
        for part in [name, bytes] {
            self.0.update((part.len() as u64).to_le_bytes());
            self.0.update(part);
        }
    }

    pub fn hex(self) -> String {
        self.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}
