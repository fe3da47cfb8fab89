//! Identifies a process by its id, its start time and the boot, because ids are reused.

use super::tree::start_time_of as start_time;
use crate::outcome::ProcessRecord;
use std::sync::OnceLock;

/// The record of a process; `None` if it does not exist or is a zombie.
pub fn record(pid: u32) -> Option<ProcessRecord> {
    Some(ProcessRecord { pid, start_time: start_time(pid)?, boot_id: boot_id() })
}

/// The record of a process with this start time, which is 0 if unknown.
pub(super) fn at(pid: u32, start_time: u64) -> ProcessRecord {
    ProcessRecord { pid, start_time, boot_id: boot_id() }
}

/// Whether the same process is still running.
pub fn alive(record: &ProcessRecord) -> bool {
    record.boot_id == boot_id() && start_time(record.pid) == Some(record.start_time)
}

/// The short name of the program that this process runs, if known.
pub fn own_name() -> Option<String> {
    super::tree::own_stat().map(|stat| stat.name)
}

/// The short name of the program that another process runs, if known.
pub fn name(pid: u32) -> Option<String> {
    super::tree::stat(pid).map(|stat| stat.name)
}

/// The id of this boot, which cannot change while this process is running.
fn boot_id() -> String {
    static BOOT: OnceLock<String> = OnceLock::new();
    BOOT.get_or_init(read_boot_id).clone()
}

#[cfg(target_os = "linux")]
fn read_boot_id() -> String {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    id.trim().to_owned()
}

#[cfg(target_os = "macos")]
fn read_boot_id() -> String {
    let mut id = [0u8; 64];
    let mut len = id.len();
    // SAFETY: the name ends in NUL, and `len` is the buffer's size.
    let failed = unsafe {
        libc::sysctlbyname(
            c"kern.bootsessionuuid".as_ptr(),
            id.as_mut_ptr().cast(),
            &mut len,
            std::ptr::null_mut(),
            0,
        )
    };
    if failed != 0 {
        return String::new();
    }
    let end = id.iter().position(|&b| b == 0).unwrap_or(len);
    String::from_utf8_lossy(&id[..end]).into_owned()
}
