//! Who holds a lock, so exactly that a process id given to somebody else is no mistake: the id, when the process
//! started, and the boot that both count from.

use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The file in a lock's directory that holds the record.
pub const RECORD: &str = "owner.json";

/// The owner of a lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// Process id.
    pub pid: u32,
    /// When it started: clock ticks since boot on Linux, microseconds since the epoch on macOS.
    pub start_time: u64,
    /// The boot.
    pub boot_id: String,
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
        static PROCESS: OnceLock<Owner> = OnceLock::new();
        static SERIAL: AtomicU64 = AtomicU64::new(1);
        let process = PROCESS.get_or_init(|| {
            let pid = std::process::id();
            Self {
                pid,
                start_time: start_time(pid).unwrap_or(0),
                boot_id: boot_id(),
                space: space(),
                serial: 0,
            }
        });
        // After a fork the id is another; the rest of what was remembered would be wrong too.
        let pid = std::process::id();
        let start_time = if pid == process.pid { process.start_time } else { start_time(pid).unwrap_or(0) };
        Self { pid, start_time, serial: SERIAL.fetch_add(1, Ordering::Relaxed), ..process.clone() }
    }

    /// The record in a lock's directory; none where there is none that we understand.
    pub fn read(dir: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(dir.join(RECORD)).ok()?).ok()
    }

    /// Whether it runs.
    pub fn life(&self) -> Life {
        static HERE: OnceLock<(String, String)> = OnceLock::new();
        let (boot, here) = HERE.get_or_init(|| (boot_id(), space()));
        if !self.space.is_empty() && self.space != *here {
            return Life::Unknown;
        }
        if self.boot_id != *boot {
            return Life::Dead;
        }
        match start_time(self.pid) {
            Some(start) if start == self.start_time => Life::Alive,
            _ => Life::Dead,
        }
    }
}

/// When a process started; none where it runs no more, a zombie included.
#[cfg(target_os = "linux")]
fn start_time(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name, in parentheses, may hold anything; the fields are counted from its end. The state is the third.
    let mut fields = stat[stat.rfind(')')? + 1..].split_ascii_whitespace();
    if matches!(fields.next()?, "Z" | "X" | "x") {
        return None;
    }
    fields.nth(18)?.parse().ok()
}

#[cfg(target_os = "linux")]
fn boot_id() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}

#[cfg(target_os = "linux")]
fn space() -> String {
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let namespace = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    format!("{} {}", host.trim(), namespace.display())
}

#[cfg(target_os = "macos")]
fn start_time(pid: u32) -> Option<u64> {
    let pid = i32::try_from(pid).ok()?;
    let size = i32::try_from(size_of::<libc::proc_bsdinfo>()).ok()?;
    // SAFETY: the structure is plain data, for which all zeroes is a value; the kernel writes at most `size` bytes.
    let (info, read) = unsafe {
        let mut info: libc::proc_bsdinfo = std::mem::zeroed();
        let read = libc::proc_pidinfo(pid, libc::PROC_PIDTBSDINFO, 0, (&raw mut info).cast(), size);
        (info, read)
    };
    if read != size || info.pbi_status == libc::SZOMB {
        return None;
    }
    Some(info.pbi_start_tvsec * 1_000_000 + info.pbi_start_tvusec)
}

#[cfg(target_os = "macos")]
fn boot_id() -> String {
    sysctl(c"kern.bootsessionuuid")
}

#[cfg(target_os = "macos")]
fn space() -> String {
    sysctl(c"kern.hostname")
}

#[cfg(target_os = "macos")]
fn sysctl(name: &std::ffi::CStr) -> String {
    let mut text = [0_u8; 256];
    let mut length = text.len();
    // SAFETY: the buffer and its length are given together; nothing is set.
    let failed = unsafe {
        libc::sysctlbyname(name.as_ptr(), text.as_mut_ptr().cast(), &raw mut length, std::ptr::null_mut(), 0)
    };
    if failed != 0 {
        return String::new();
    }
    String::from_utf8_lossy(&text[..length]).trim_end_matches('\0').to_owned()
}
