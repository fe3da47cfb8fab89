//! Checks whether the files that a stage was expected to write exist.

use super::walk;
use crate::store::beneath::{Door, Kind, Meta};
use globset::{GlobBuilder, GlobMatcher};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Kernels stamp files with a coarse clock, so a file may look this much older than it is.
const TICK: Duration = Duration::from_millis(20);

/// Returns the globs that match no file below `root` written since `since`.
///
/// Globs are relative to the root; a glob that leads out of it matches nothing.
pub fn files_written_since(root: &Path, globs: &[String], since: SystemTime) -> Vec<String> {
    globs.iter().filter(|glob| !met(root, glob, since)).cloned().collect()
}

fn met(root: &Path, glob: &str, since: SystemTime) -> bool {
    let relative = Path::new(glob.strip_prefix("./").unwrap_or(glob));
    let inside = relative.components().all(|part| matches!(part, Component::Normal(_)));
    if !inside || relative.as_os_str().is_empty() {
        return false;
    }
    let door = Door::people(root);
    let written = |path: &Path| door.stat(path).is_ok_and(|meta| fresh(&meta, since));
    if written(&root.join(relative)) {
        return true;
    }
    let Some(matcher) = relative.to_str().and_then(matcher) else { return false };
    let mut found = false;
    walk::each(&root.join(literal_start(relative)), Some(root), &mut |path| {
        found = path.strip_prefix(root).is_ok_and(|inner| matcher.is_match(inner)) && written(path);
        !found
    });
    found
}

fn matcher(glob: &str) -> Option<GlobMatcher> {
    Some(GlobBuilder::new(glob).literal_separator(true).build().ok()?.compile_matcher())
}

/// The plain directories at the start of a glob, so that only those are searched.
fn literal_start(glob: &Path) -> PathBuf {
    let plain =
        |part: &Component| !part.as_os_str().to_string_lossy().contains(['*', '?', '[', ']', '{', '}', '\\']);
    let parents = glob.parent().unwrap_or(Path::new(""));
    parents.components().take_while(plain).collect()
}

/// Whether the file was written, moved or copied here since then. The change time counts besides the modification
/// time, because a rename keeps the latter.
fn fresh(meta: &Meta, since: SystemTime) -> bool {
    let since = since.checked_sub(TICK).unwrap_or(SystemTime::UNIX_EPOCH);
    let at = |(seconds, nanos): (i64, i64)| {
        let since_then = Duration::new(seconds.max(0).unsigned_abs(), u32::try_from(nanos).unwrap_or(0));
        SystemTime::UNIX_EPOCH + since_then
    };
    meta.kind == Kind::File && (at(meta.changed) >= since || at(meta.modified) >= since)
}
