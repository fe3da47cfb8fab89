//! Cancels a run whose declaration or journal is lost or damaged. It cannot be continued, but lists and other tools
//! must not show it as waiting forever.

use super::Host;
use super::lock::{StartError, lock};
use crate::run::event::{Event, Record};
use crate::runs::open_error::OpenError;
use crate::store::journal::{self, Contents, Journal, Place};
use crate::store::log::Log;
use crate::store::rundir::RunDir;
use crate::store::{squad, summary};
use serde_json::json;
use std::path::Path;

/// Cancels such a run. If its journal is readable, the cancellation is recorded there too, in case the rest is
/// repaired later.
pub fn cancel_unreadable(host: &Host, root: &Path, run_id: &str, mut event: Event) -> Result<(), StartError> {
    let _lease = lock(root)?;
    let at = (host.clock)();
    let dir = RunDir::of(root, run_id).map_err(OpenError::from)?;
    let place = Place::new(&dir, &host.keys);
    let whole = |contents: &Contents| {
        contents.ours && contents.damaged.is_none() && contents.foreign_lines.is_empty()
    };
    if let Some(contents) = journal::read(&place).ok().filter(whole) {
        let mut journal = Journal::open(&place, &contents)?;
        event.texts(&mut |text| *text = host.secrets.mask(text).into_owned());
        journal.append(&Record { at, event });
        journal.flush()?;
    }
    let mut name = None;
    if let Some(summary::Kept { mut summary, .. }) = summary::read(root, run_id, &host.keys) {
        name = Some(summary.superpower.clone());
        summary.state = "cancelled".into();
        summary.summary = "cancelled".into();
        summary.reason = None;
        summary.updated_at = at.timestamp_millis();
        summary::write(root, &summary, &host.keys)?;
    }
    if let Ok(Some(mut squad)) = squad::read(root)
        && squad.run_id.as_deref() == Some(run_id)
    {
        squad.status = "cancelled".into();
        squad::write(root, &squad, None, at)?;
        name = Some(squad.active_superpower);
    }
    // Another tool may have written the name.
    let name = crate::terminal::visible(&name.unwrap_or_else(|| run_id.to_owned()));
    let line = format!("[superpower] CANCELLED  {name}");
    // The run is cancelled even if the log cannot be written.
    let _ = Log::new(root, host.config.max_log).append(&line);
    host.send(&json!({ "type": "log", "root": root, "run_id": run_id, "line": line }));
    host.send(&json!({
        "type": "run-finished", "root": root, "run_id": run_id, "superpower": name, "state": "cancelled",
        "summary": "cancelled",
    }));
    Ok(())
}
