//! Renaming without replacing: plain `rename` would replace an empty directory, which is a script's lock.

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// How it went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exclusive {
    /// It has the new name.
    Done,
    /// The new name is taken.
    Exists,
    /// The system or the file system cannot do it.
    Unsupported,
}

/// Renames `from` to `to`, unless `to` exists.
pub fn rename_exclusive(from: &Path, to: &Path) -> io::Result<Exclusive> {
    let from = CString::new(from.as_os_str().as_bytes())?;
    let to = CString::new(to.as_os_str().as_bytes())?;
    let failed = call(&from, &to);
    if failed == 0 {
        return Ok(Exclusive::Done);
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        Some(libc::EEXIST | libc::ENOTEMPTY) => Ok(Exclusive::Exists),
        Some(libc::EINVAL | libc::ENOSYS | libc::ENOTSUP) => Ok(Exclusive::Unsupported),
        _ => Err(error),
    }
}

#[cfg(target_os = "linux")]
fn call(from: &CString, to: &CString) -> libc::c_long {
    const RENAME_NOREPLACE: libc::c_uint = 1;
    let here = libc::AT_FDCWD;
    // SAFETY: both are strings that end with a zero and outlive the call. The number, since not every libc has a
    // function for it.
    unsafe { libc::syscall(libc::SYS_renameat2, here, from.as_ptr(), here, to.as_ptr(), RENAME_NOREPLACE) }
}

#[cfg(target_os = "macos")]
fn call(from: &CString, to: &CString) -> libc::c_long {
    // SAFETY: both are strings that end with a zero and outlive the call.
    unsafe { libc::renamex_np(from.as_ptr(), to.as_ptr(), libc::RENAME_EXCL).into() }
}
