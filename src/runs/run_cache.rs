//! Runs as they were read last. A window asks for the same run again and again, and a long journal takes its time.

use super::open::{Opened, open};
use super::open_error::OpenError;
use crate::store::beneath::Stamp;
use crate::store::keyring::Keyring;
use crate::store::rundir::RunDir;
use crate::sync::locked;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// How many are kept.
const KEPT: usize = 4;

struct Reading {
    journal: PathBuf,
    stamp: Stamp,
    opened: Arc<Opened>,
}

/// The newest runs, the newest last.
#[derive(Default)]
pub struct RunCache {
    kept: Mutex<Vec<Reading>>,
}

impl RunCache {
    /// The run as its journal is now.
    pub fn open(&self, root: &Path, run_id: &str, keys: &Keyring) -> Result<Arc<Opened>, OpenError> {
        let dir = RunDir::of(root, run_id)?;
        let journal = dir.journal();
        // Taken before the reading: what is written meanwhile makes that old.
        let stamp = dir.door().lstat(&journal).ok().map(|there| there.stamp());
        let same = |it: &Reading| it.journal == journal && Some(it.stamp) == stamp;
        if let Some(reading) = locked(&self.kept).iter().find(|it| same(it)) {
            return Ok(reading.opened.clone());
        }
        let opened = Arc::new(open(root, run_id, keys)?);
        let Some(stamp) = stamp else { return Ok(opened) };
        let mut kept = locked(&self.kept);
        kept.retain(|it| it.journal != journal);
        if kept.len() == KEPT {
            kept.remove(0);
        }
        kept.push(Reading { journal, stamp, opened: opened.clone() });
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
    fn a_journal_that_is_as_it_was_is_not_read_again() {
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
    fn no_more_are_kept_than_a_few() {
        let runs = RunCache::default();
        let projects: Vec<_> = (0..KEPT + 2).map(|_| project()).collect();
        projects.iter().for_each(|(dir, _)| drop(runs.open(dir.path(), "r", &Keyring::default()).unwrap()));
        assert_eq!(locked(&runs.kept).len(), KEPT);
    }
}
