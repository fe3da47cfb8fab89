//! Summaries of all runs of a project.

use super::open::open;
use super::projection;
use super::unsound::{Unsound, unsound};
use crate::check::is_kebab;
use crate::process::Secrets;
use crate::store::journal::{self, Place};
use crate::store::keyring::Keyring;
use crate::store::lease;
use crate::store::rundir::{self, RunDir};
use crate::store::summary::{self, Summary};
use std::path::Path;

/// The summaries of all runs, newest first. A summary that is missing or older than its journal is made from the journal.
pub fn summaries(root: &Path, keys: &Keyring, secrets: &Secrets) -> Vec<Summary> {
    let driver = lease::holder(root);
    let mut foreign = 0;
    let summary = |id: String| {
        let driven = lease::drives(driver.as_ref(), &id);
        let kept =
            summary::read(root, &id, keys).filter(|kept| driven || (kept.current && !kept.summary.running()));
        if let Some(kept) = kept {
            return Some(kept.summary);
        }
        if foreign == MAX_FOREIGN {
            return None;
        }
        let (summary, ours) = from_journal(root, &id, keys, secrets, driven)?;
        foreign += usize::from(!ours);
        Some(summary)
    };
    rundir::ids(root).into_iter().filter_map(summary).collect()
}

/// The summary from a journal, and whether the run is ours.
fn from_journal(
    root: &Path,
    id: &str,
    keys: &Keyring,
    secrets: &Secrets,
    driven: bool,
) -> Option<(Summary, bool)> {
    let place = Place::new(&RunDir::of(root, id).ok()?, keys);
    if !journal::begun_by_us(&place) {
        return foreign(root, id, &place).map(|summary| (summary, false));
    }
    let mut opened = open(root, id, keys).ok()?;
    if !driven {
        opened.interrupt();
    }
    let mut summary = projection::summary(&opened.run, secrets);
    let unsound = unsound(&opened);
    if let Some(unsound) = unsound {
        summary.state = "paused".into();
        (summary.reason, summary.summary) = (Some(unsound.word().into()), unsound.to_string());
    }
    Some((summary, unsound != Some(Unsound::Foreign)))
}

/// The summary of a foreign run. Only what its files cannot misuse is listed: a name, a state and numbers.
fn foreign(root: &Path, id: &str, place: &Place) -> Option<Summary> {
    let claimed = summary::claimed(root, id);
    let (superpower, started_at) = match &claimed {
        Some(claimed) => (claimed.superpower.clone(), claimed.started_at),
        None => journal::claim(place).map(|claim| (claim.superpower, claim.at.timestamp_millis()))?,
    };
    if !is_kebab(&superpower) {
        return None;
    }
    let over = claimed.as_ref().filter(|claimed| claimed.over());
    Some(Summary {
        run_id: id.to_owned(),
        superpower,
        state: over.map_or_else(|| "paused".to_owned(), |over| over.state.clone()),
        reason: over.is_none().then(|| Unsound::Foreign.word().to_owned()),
        current_stage: claimed.as_ref().map_or(1, |claimed| claimed.current_stage),
        total: claimed.as_ref().map_or(1, |claimed| claimed.total),
        started_at,
        updated_at: claimed.as_ref().map_or(started_at, |claimed| claimed.updated_at),
        summary: if over.is_some() { "foreign run".to_owned() } else { Unsound::Foreign.to_string() },
        about: String::new(),
    })
}

/// Maximum number of foreign runs in the list, because a cloned repository may contain any number.
const MAX_FOREIGN: usize = 100;
