//! The owner of a lock: a process, and the host and namespace in which its id is valid.

use crate::outcome::ProcessRecord;
use crate::process::{alive, record};
use crate::store::beneath::Door;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The file in a lock's directory that holds the owner's record.
pub const RECORD: &str = "owner.json";

/// Size limit of a record, in bytes.
const LARGEST: u64 = 64 << 10;

/// The owner of a lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// Its id, start time and boot.
    #[serde(flatten)]
    pub process: ProcessRecord,
    /// Where the process id is valid: a host and, on Linux, its PID namespace. For an owner elsewhere we cannot tell
    /// whether it is alive.
    #[serde(default)]
    pub space: String,
    /// Distinguishes the locks of one process.
    #[serde(default)]
    pub serial: u64,
}

/// Whether an owner is alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    Alive,
    Dead,
    /// It is on another host or in another container.
    Unknown,
}

impl Owner {
    /// This process, with a new serial number.
    pub fn this() -> Self {
        static PROCESS: OnceLock<ProcessRecord> = OnceLock::new();
        static SERIAL: AtomicU64 = AtomicU64::new(1);
        let unknown = || ProcessRecord { pid: std::process::id(), start_time: 0, boot_id: String::new() };
        let process = PROCESS.get_or_init(|| record(std::process::id()).unwrap_or_else(unknown)).clone();
        Self { process, space: space().to_owned(), serial: SERIAL.fetch_add(1, Ordering::Relaxed) }
    }

    /// Reads the record in a lock's directory; `None` if there is no valid one.
    pub fn read(dir: &Path) -> Option<Self> {
        Self::read_by(&Door::ours(dir), dir)
    }

    /// Reads the record of a directory that is reached through `door`.
    pub fn read_by(door: &Door, dir: &Path) -> Option<Self> {
        serde_json::from_slice(&door.read(&dir.join(RECORD), LARGEST).ok()?).ok()
    }

    /// Whether the owner is alive.
    pub fn life(&self) -> Life {
        if self.space != space() {
            Life::Unknown
        } else if alive(&self.process) {
            Life::Alive
        } else {
            Life::Dead
        }
    }

    /// The host, as users know it.
    pub fn host(&self) -> &str {
        self.space.split(' ').next().unwrap_or_default()
    }
}

/// Where our process ids are valid.
fn space() -> &'static str {
    static SPACE: OnceLock<String> = OnceLock::new();
    SPACE.get_or_init(|| {
        let namespace = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
        format!("{} {}", host(), namespace.display()).trim_end().to_owned()
    })
}

fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}
