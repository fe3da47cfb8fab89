//! Adopts a foreign run that the user accepted, by copying its records into a journal of our own; or files it away.

use super::Host;
use super::lock::{StartError, lock};
use crate::run::event::{Event, Record};
use crate::runs::open::{Opened, open};
use crate::runs::open_error::OpenError;
use crate::runs::replay::digest;
use crate::store::beneath::Door;
use crate::store::journal::{self, Journal, Place};
use crate::store::log::Log;
use crate::store::rundir::{self, RunDir};
use crate::store::squad;
use serde_json::json;
use std::io;
use std::path::{Path, PathBuf};

/// Copies the records that were shown to the user into a sealed journal, and returns the path where the old journal
/// is kept. Processes and sessions are not copied, because we must not kill or contact anything that only foreign
/// files name.
pub fn adopt(host: &Host, root: &Path, opened: &mut Opened) -> Result<PathBuf, StartError> {
    let run_id = opened.run.run_id.clone();
    let mut records = std::mem::take(&mut opened.contents.records);
    // Gate baselines and changes in foreign files are claims too.
    let ours = |event: &Event| {
        !matches!(
            event,
            Event::SessionOpened { .. } | Event::BaselineTaken { .. } | Event::ReviewShown { .. }
        )
    };
    records.retain(|record| ours(&record.event));
    for record in &mut records {
        make_ours(record, &run_id, opened)?;
    }
    let door = Door::ours(root);
    let kept = keep(&door, opened.place.path())?;
    Journal::rewrite(&opened.place, &records)?;
    *opened = open(root, &run_id, &host.keys)?;
    Ok(kept)
}

/// Makes a record our own.
fn make_ours(record: &mut Record, id: &str, opened: &Opened) -> Result<(), StartError> {
    match &mut record.event {
        Event::RunStarted { run_id, declaration, digest: kept, .. } => {
            id.clone_into(run_id);
            *kept = Some(digest_of(opened, declaration)?);
        }
        Event::DeclarationReplaced { declaration, digest: kept, .. } => {
            *kept = Some(digest_of(opened, declaration)?);
        }
        Event::AgentStarted { process, .. } => *process = None,
        _ => {}
    }
    Ok(())
}

fn digest_of(opened: &Opened, name: &str) -> Result<String, StartError> {
    let failed = |error: io::Error| OpenError::Declaration { name: name.to_owned(), why: error.to_string() };
    Ok(opened.dir.declaration(name).map(|bytes| digest(&bytes)).map_err(failed)?)
}

/// Gives the old journal a second, unused name.
fn keep(door: &Door, journal: &Path) -> io::Result<PathBuf> {
    let mut n = 1;
    loop {
        let kept = journal.with_file_name(format!("journal.foreign-{n}.jsonl"));
        match door.hard_link(journal, &kept) {
            Ok(()) => return Ok(kept),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => n += 1,
            Err(error) => return Err(error),
        }
    }
}

/// Moves a foreign run to where no list looks, and returns the path. Nothing else is done, because its files are not
/// trusted.
pub fn file_away(host: &Host, root: &Path, run_id: &str) -> Result<PathBuf, StartError> {
    let _lease = lock(root)?;
    let dir = RunDir::of(root, run_id).map_err(OpenError::from)?;
    // Another editor may have adopted it in the meantime.
    if journal::begun_by_us(&Place::new(&dir, &host.keys)) {
        return Err(io::Error::other("the run was adopted in the meantime; cancel it again").into());
    }
    let (door, from) = (dir.door(), dir.path());
    let mut n = 1;
    let to = loop {
        let to = rundir::runs(root).join(format!(".foreign-{run_id}-{n}"));
        match door.rename_new(from, &to) {
            Ok(()) => break to,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => n += 1,
            Err(error) => return Err(error.into()),
        }
    };
    if let Ok(Some(mut squad)) = squad::read(root)
        && squad.run_id.as_deref() == Some(run_id)
    {
        squad.status = "cancelled".into();
        squad::write(root, &squad, None, (host.clock)())?;
    }
    // The run is moved even if the log cannot be written.
    let line = format!("[superpower] CANCELLED  {run_id}");
    let _ = Log::new(root, host.config.max_log).append(&line);
    host.send(&json!({ "type": "log", "root": root, "run_id": run_id, "line": line }));
    host.send(&json!({
        "type": "run-finished", "root": root, "run_id": run_id, "superpower": run_id, "state": "cancelled",
        "summary": "cancelled",
    }));
    Ok(to)
}
