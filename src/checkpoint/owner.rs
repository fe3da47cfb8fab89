//! Who holds a lock: a process, exactly, and where its id counts.

use crate::outcome::ProcessRecord;
use crate::process::{alive, record};
use crate::store::beneath::Door;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The file in a lock's directory that holds the record.
pub const RECORD: &str = "owner.json";

/// A larger file is no record.
const LARGEST: u64 = 64 << 10;

/// The owner of a lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// The process: its id, when it started, and the boot.
    #[serde(flatten)]
    pub process: ProcessRecord,
    /// Where the process id counts: a host and, on Linux, its namespace of process ids. From elsewhere nobody can tell
    /// who lives.
    #[serde(default)]
    pub space: String,
    /// Tells the locks of one process apart.
    #[serde(default)]
    pub serial: u64,
}

/// What is known of an owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// It runs.
    Alive,
    /// It does not.
    Dead,
    /// It lives in another host or container, if at all.
    Unknown,
}

impl Owner {
    /// This process, with a serial number of its own.
    pub fn this() -> Self {
        static PROCESS: OnceLock<ProcessRecord> = OnceLock::new();
        static SERIAL: AtomicU64 = AtomicU64::new(1);
        let unknown = || ProcessRecord { pid: std::process::id(), start_time: 0, boot_id: String::new() };
        let process = PROCESS.get_or_init(|| record(std::process::id()).unwrap_or_else(unknown)).clone();
        Self { process, space: space().to_owned(), serial: SERIAL.fetch_add(1, Ordering::Relaxed) }
    }

    /// The record in a lock's directory; none where there is none that we understand.
    pub fn read(dir: &Path) -> Option<Self> {
        Self::read_by(&Door::ours(dir), dir)
    }

    /// The same by a door that the directory lies behind.
    pub fn read_by(door: &Door, dir: &Path) -> Option<Self> {
        serde_json::from_slice(&door.read(&dir.join(RECORD), LARGEST).ok()?).ok()
    }

    /// Whether it runs.
    pub fn life(&self) -> Life {
        if self.space != space() {
            Life::Unknown
        } else if alive(&self.process) {
            Life::Alive
        } else {
            Life::Dead
        }
    }

    /// Its host, as people know it.
    pub fn host(&self) -> &str {
        self.space.split(' ').next().unwrap_or_default()
    }
}

/// Where our process ids count.
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
