//! Files that are there whole or not at all: written beside, then renamed.

use super::disk::{Op, pass};
use chrono::{DateTime, Utc};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

static SERIAL: AtomicU32 = AtomicU32::new(0);

/// Replaces a file by `bytes`, without a flush: for projections, which can be rebuilt from the journal.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let beside = beside(path);
    let written = (|| {
        pass(Op::Write, path)?;
        fs::File::create(&beside)?.write_all(bytes)?;
        pass(Op::Rename, path)?;
        fs::rename(&beside, path)
    })();
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}

/// Writes a file in a place that is nobody's yet, where nobody looks before it is whole.
pub fn fresh(path: &Path, bytes: &[u8]) -> io::Result<()> {
    pass(Op::Write, path)?;
    fs::write(path, bytes)
}

/// Reads a file as text, a byte-order mark dropped.
pub fn read(path: &Path) -> io::Result<String> {
    pass(Op::Read, path)?;
    let text = fs::read_to_string(path)?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// Moves a file that cannot be understood out of the way, and says where to.
pub fn set_aside(path: &Path, now: DateTime<Utc>) -> io::Result<PathBuf> {
    let aside = aside(path, now);
    pass(Op::Rename, path)?;
    fs::rename(path, &aside)?;
    Ok(aside)
}

/// Where a file that cannot be understood is kept.
pub fn aside(path: &Path, now: DateTime<Utc>) -> PathBuf {
    let mut aside = path.as_os_str().to_owned();
    aside.push(format!(".corrupt-{}", now.format("%Y%m%dT%H%M%S%3f")));
    PathBuf::from(aside)
}

fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
    path.with_file_name(format!(".{name}.{}.{serial}.new", std::process::id()))
}
