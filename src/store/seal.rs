//! Seals show that this user's plugin wrote a file: a keyed digest over its bytes, the project and the run. A
//! repository can contain files that look like ours, but it does not have the key, which is in our state.

use super::state::State;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::fmt;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Length of a key and of a seal, in bytes.
const LENGTH: usize = 32;
/// The text between an object's own fields and its seal, and the text after the seal.
const FIELD: &[u8] = b",\"seal\":\"";
const END: &[u8] = b"\"}\n";
/// The key's file in our state.
const FILE: &str = "key";

/// This user's key, created once. Without it every run is foreign.
#[derive(Clone)]
pub struct Key([u8; LENGTH]);

#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Seal([u8; LENGTH]);

/// Makes and checks the seals of one run.
#[derive(Clone)]
pub struct Sealer {
    mac: Hmac<Sha256>,
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key")
    }
}

impl fmt::Debug for Sealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sealer")
    }
}

impl fmt::Debug for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl Seal {
    /// Hexadecimal digits of a seal in a file.
    pub const DIGITS: usize = 2 * LENGTH;

    /// Parses what `Display` writes.
    pub fn parse(text: &[u8]) -> Option<Self> {
        if text.len() != Self::DIGITS {
            return None;
        }
        let mut bytes = [0; LENGTH];
        for (byte, pair) in bytes.iter_mut().zip(text.chunks(2)) {
            let digit = |at: usize| char::from(pair[at]).to_digit(16);
            *byte = u8::try_from(digit(0)? << 4 | digit(1)?).ok()?;
        }
        Some(Self(bytes))
    }
}

impl Key {
    /// The key in our state; `None` if there is none.
    pub fn read(state: &State) -> io::Result<Option<Self>> {
        let path = state.dir().join(FILE);
        let bytes = match state.door().read(&path, LENGTH as u64) {
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(None);
            }
            read => read?,
        };
        let damaged = || io::Error::other(format!("\"{}\" is not a valid key; move it away", path.display()));
        bytes.try_into().map(|key| Some(Self(key))).map_err(|_| damaged())
    }

    /// Reads the key, or creates it. If two editors create one at the same time, both get the same key.
    pub fn read_or_make(state: &State) -> io::Result<Self> {
        if let Some(key) = Self::read(state)? {
            return Ok(key);
        }
        state.make(Path::new(""))?;
        let mut key = [0; LENGTH];
        getrandom::fill(&mut key).map_err(io::Error::other)?;
        let path = state.dir().join(FILE);
        let beside = state.dir().join(format!(".{FILE}.{}", uuid::Uuid::new_v4().simple()));
        state.door().replace_flushed(&beside, &key)?;
        match state.door().rename_new(&beside, &path) {
            Ok(()) => Ok(Self(key)),
            Err(error) => {
                let _ = state.door().remove_file(&beside);
                Self::read(state)?.ok_or(error)
            }
        }
    }
}

impl Sealer {
    /// A sealer for one run of one project. `what` prevents a seal of one kind of file from being valid for another
    /// kind.
    pub fn new(key: &Key, what: &str, root: &Path, run_id: &str) -> Self {
        let mut mac = Hmac::<Sha256>::new_from_slice(&key.0).expect("a key of any length will do");
        for part in [what.as_bytes(), root.as_os_str().as_bytes(), run_id.as_bytes()] {
            mac.update(&(part.len() as u64).to_le_bytes());
            mac.update(part);
        }
        Self { mac }
    }

    /// The seal of bytes that follow another seal; the first bytes of a file follow none.
    pub fn seal(&self, before: Option<&Seal>, bytes: &[u8]) -> Seal {
        let mut mac = self.mac.clone();
        if let Some(Seal(before)) = before {
            mac.update(before);
        }
        mac.update(bytes);
        Seal(mac.finalize().into_bytes().into())
    }

    /// Seals the JSON object that the buffer holds from `from` on: appends the seal as its last field, and a line
    /// break.
    pub fn close(&self, before: Option<&Seal>, buffer: &mut Vec<u8>, from: usize) -> Seal {
        let seal = self.seal(before, &buffer[from..]);
        buffer.pop();
        buffer.extend_from_slice(FIELD);
        buffer.extend_from_slice(seal.to_string().as_bytes());
        buffer.extend_from_slice(END);
        seal
    }

    /// Returns a line's object without its seal, if the seal is valid.
    pub fn open(&self, before: Option<&Seal>, line: &[u8]) -> Option<(Vec<u8>, Seal)> {
        let inner = line.strip_suffix(END)?;
        let (text, seal) = inner.split_at_checked(inner.len().checked_sub(Seal::DIGITS)?)?;
        let (mut text, seal) = (text.strip_suffix(FIELD)?.to_vec(), Seal::parse(seal)?);
        text.push(b'}');
        self.fits(before, &text, &seal).then_some((text, seal))
    }

    /// Whether the seal is that of these bytes, compared in constant time.
    pub fn fits(&self, before: Option<&Seal>, bytes: &[u8], seal: &Seal) -> bool {
        let mut mac = self.mac.clone();
        if let Some(Seal(before)) = before {
            mac.update(before);
        }
        mac.update(bytes);
        mac.verify_slice(&seal.0).is_ok()
    }
}
