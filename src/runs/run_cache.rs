//! Caches the runs that were opened last, because windows ask for the same run often and a long journal is slow to replay.

use super::open::{Opened, open};
use super::open_error::OpenError;
use crate::store::beneath::Stamp;
use crate::store::keyring::Keyring;
use crate::store::rundir::RunDir;
use crate::sync::locked;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Maximum number of cached runs.
const MAX_CACHED: usize = 4;

struct Entry {
    journal: PathBuf,
    stamp: Stamp,
    opened: Arc<Opened>,
}

/// The cached runs, the newest last.
#[derive(Default)]
pub struct RunCache {
    kept: Mutex<Vec<Entry>>,
}

impl RunCache {
    /// The run according to its current journal.
    pub fn open(&self, root: &Path, run_id: &str, keys: &Keyring) -> Result<Arc<Opened>, OpenError> {
        let dir = RunDir::of(root, run_id)?;
        let journal = dir.journal();
        // Taken before the journal is read, so that a concurrent write makes the entry outdated.
        let stamp = dir.door().lstat(&journal).ok().map(|there| there.stamp());
        let same = |it: &Entry| it.journal == journal && Some(it.stamp) == stamp;
        if let Some(entry) = locked(&self.kept).iter().find(|it| same(it)) {
            return Ok(entry.opened.clone());
        }
        let opened = Arc::new(open(root, run_id, keys)?);
        let Some(stamp) = stamp else { return Ok(opened) };
        let mut kept = locked(&self.kept);
        kept.retain(|it| it.journal != journal);
        if kept.len() == MAX_CACHED {
            kept.remove(0);
        }
        kept.push(Entry { journal, stamp, opened: opened.clone() });
        Ok(opened)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn project() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let run = dir.path().join(".claude/state/runs/r");
        fs::create_dir_all(&run).unwrap();
        let declaration = "name: p\ndescription: d\nversion: '1'\nstages:\n  - {agent: a}\n";
        fs::write(run.join("declaration-1.yaml"), declaration).unwrap();
        let started = r#"{"at":"2026-01-01T00:00:00Z","event":"run-started","run_id":"r","superpower":"p","version":"1","declaration":"declaration-1.yaml","inputs":{},"harness":null,"by":"ann","adopted":null}"#;
        fs::write(run.join("journal.jsonl"), format!("{{\"format\":1}}\n{started}\n")).unwrap();
        (dir, run.join("journal.jsonl"))
    }

    #[test]
    fn an_unchanged_journal_is_read_only_once() {
        let (dir, journal) = project();
        let runs = RunCache::default();
        let first = runs.open(dir.path(), "r", &Keyring::default()).unwrap();
        assert!(Arc::ptr_eq(&first, &runs.open(dir.path(), "r", &Keyring::default()).unwrap()));
        let more = r#"{"at":"2026-01-01T00:00:01Z","event":"cancelled","by":"ann"}"#;
        fs::write(&journal, fs::read_to_string(&journal).unwrap() + more + "\n").unwrap();
        assert!(runs.open(dir.path(), "r", &Keyring::default()).unwrap().run.phase.ended());
        fs::remove_file(&journal).unwrap();
        assert!(matches!(runs.open(dir.path(), "r", &Keyring::default()), Err(OpenError::Missing(_))));
    }

    #[test]
    fn the_number_of_cached_runs_is_bounded() {
        let runs = RunCache::default();
        let projects: Vec<_> = (0..MAX_CACHED + 2).map(|_| project()).collect();
        projects.iter().for_each(|(dir, _)| drop(runs.open(dir.path(), "r", &Keyring::default()).unwrap()));
        assert_eq!(locked(&runs.kept).len(), MAX_CACHED);
    }
}
