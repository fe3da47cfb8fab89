//! Which run a verb is about, and other tools' `squad.json` taken over.

use super::adoption::{Taking, adopt, over};
use super::run_id::{begins, identified};
use crate::engine::core::Engine;
use crate::engine::refusal::{Aside, Nothing, Refusal};
use crate::runs::list::summaries;
use crate::store::atomic;
use crate::store::journal::{self, Place};
use crate::store::rundir::RunDir;
use crate::store::squad::{self, Squad, SquadError};
use crate::store::summary::{self, Summary};
use chrono::Utc;
use std::path::Path;

/// What stands in a project.
enum Standing {
    /// A run of ours: driven here, or named by `squad.json`.
    Ours(String),
    /// What another tool says.
    Foreign(Squad),
    /// There is no `squad.json`.
    Nothing,
}

fn standing(engine: &Engine, root: &Path) -> Result<Standing, SquadError> {
    if let Some(drive) = engine.drive(root).filter(|drive| !drive.is_over()) {
        return Ok(Standing::Ours(drive.run_id.clone()));
    }
    Ok(match squad::read(root)? {
        // One that was filed away is no longer there to be spoken of.
        Some(squad) if squad.run_id.is_some() && over(&squad).is_some() && is_gone(root, &squad) => {
            Standing::Nothing
        }
        Some(Squad { run_id: Some(run_id), .. }) => Standing::Ours(run_id),
        Some(foreign) => Standing::Foreign(foreign),
        None => Standing::Nothing,
    })
}

/// Whether another tool says which run there is.
pub fn is_anothers(engine: &Engine, root: &Path) -> bool {
    matches!(standing(engine, root), Ok(Standing::Foreign(_)))
}

fn is_gone(root: &Path, squad: &Squad) -> bool {
    let dir = squad.run_id.as_ref().and_then(|run_id| RunDir::of(root, run_id).ok());
    dir.is_some_and(|dir| !dir.door().is_dir(dir.path()))
}

/// The run that verbs without a name act on. What another tool says becomes a run of ours.
pub fn current(engine: &Engine, root: &Path, taking: &Taking) -> Result<String, Refusal> {
    match standing(engine, root) {
        Ok(Standing::Ours(run_id)) => Ok(run_id),
        Ok(Standing::Foreign(foreign)) => adopt(engine, root, &foreign, taking),
        Ok(Standing::Nothing) => newest_unfinished(engine, root).ok_or_else(nothing),
        Err(error) => Err(unreadable(root, error)),
    }
}

/// The run that is shown where none is named. Nothing is taken over for that, and nothing moved aside.
pub fn shown(engine: &Engine, root: &Path) -> Result<String, Refusal> {
    match standing(engine, root) {
        Ok(Standing::Ours(run_id)) => Ok(run_id),
        Ok(Standing::Foreign(_)) => Err(Refusal::NothingToResume(Nothing::AnotherTools)),
        Ok(Standing::Nothing) => summaries(root, &engine.keys(), &engine.secrets())
            .into_iter()
            .next()
            .map(|newest| newest.run_id)
            .ok_or_else(nothing),
        Err(error) => Err(Refusal::UnreadableSquad { error, aside: Aside::Left }),
    }
}

/// The run that `resume WHICH` means, and how many other unfinished ones of that name there are.
pub fn named(engine: &Engine, root: &Path, which: &str, taking: &Taking) -> Result<(String, usize), Refusal> {
    let all = summaries(root, &engine.keys(), &engine.secrets());
    // A run's folder may be called anything; a superpower's name comes first.
    let named = all.iter().any(|summary| summary.superpower == which);
    if which.len() >= 4
        && !named
        && let Some(run_id) = begins(root, which)?
    {
        return Ok((run_id, 0));
    }
    let (over, unfinished): (Vec<&Summary>, Vec<&Summary>) =
        all.iter().filter(|summary| summary.superpower == which).partition(|summary| summary.over());
    let (here, damage) = match squad::read(root) {
        Ok(here) => (here, None),
        Err(error) => (None, Some(error)),
    };
    if let Some(foreign) =
        here.as_ref().filter(|squad| squad.run_id.is_none() && squad.active_superpower == which)
    {
        return adopt(engine, root, foreign, taking).map(|run_id| (run_id, unfinished.len()));
    }
    let current = here.and_then(|squad| squad.run_id);
    let named = unfinished.iter().find(|summary| Some(&summary.run_id) == current.as_ref());
    // A finished run of that name says how it ended.
    match named.or(unfinished.first()).or(over.first()) {
        Some(chosen) => Ok((chosen.run_id.clone(), unfinished.len().saturating_sub(1))),
        // It may be the one that is named.
        None if damage.is_some() => Err(damage.map_or_else(nothing, |error| unreadable(root, error))),
        None => {
            let hint = crate::suggest::did_you_mean(which, all.iter().map(|it| it.superpower.as_str()));
            Err(Refusal::NothingToResume(Nothing::Named { which: which.to_owned(), hint }))
        }
    }
}

/// Whether the run that is named, else the one that verbs act on, lies here and is not ours, also where nobody can read
/// it.
pub fn is_foreign(engine: &Engine, root: &Path, given: Option<&str>) -> bool {
    let named = match given {
        Some(given) => identified(root, given).ok(),
        None => squad::read(root).ok().flatten().and_then(|squad| squad.run_id),
    };
    let dir = named.and_then(|run_id| RunDir::of(root, &run_id).ok());
    dir.is_some_and(|dir| {
        let keys = engine.keys();
        let ours = || journal::begun_by_us(&Place::new(&dir, &keys));
        // A journal that was lost or overwritten leaves the summary of a run that is ours.
        dir.door().is_dir(dir.path()) && !ours() && summary::read(root, dir.run_id(), &keys).is_none()
    })
}

/// What can be done with a run that cannot be read any more: no verb goes on with it.
pub fn lost(engine: &Engine, root: &Path, run_id: &str, refusal: Refusal) -> Refusal {
    let current = squad::read(root).ok().flatten().filter(|squad| squad.run_id.as_deref() == Some(run_id));
    let is_gone = refusal.is_nothing() && current.is_some();
    if !is_gone && !refusal.is_unreadable() {
        return refusal;
    }
    let name = summary::read(root, run_id, &engine.keys()).map(|kept| kept.summary.superpower);
    let superpower = name.or(current.map(|squad| squad.active_superpower)).unwrap_or_else(|| "NAME".into());
    Refusal::Lost { why: Box::new(refusal), superpower }
}

/// Sees to it that nothing of another tool's is lost when `squad.json` is about to name a run of ours: its run becomes
/// one of ours. What cannot be read is moved aside, and said; what can be read and not be taken over stays, and the verb
/// is refused.
pub fn make_way(engine: &Engine, root: &Path) -> Result<(), Refusal> {
    match squad::read(root) {
        Ok(Some(squad)) if squad.run_id.is_none() && over(&squad).is_none() => {
            match adopt(engine, root, &squad, &Taking::Quietly) {
                Ok(run_id) => {
                    let name = squad.active_superpower;
                    let text = format!(
                        "{name}, which another tool had begun, is kept as a paused run: :Superpower resume {run_id}"
                    );
                    engine.notice(root, "info", &text);
                    Ok(())
                }
                // What keeps any run from beginning says nothing of this one.
                Err(refusal @ (Refusal::Start(_) | Refusal::Disk { .. })) => Err(refusal),
                Err(why) => {
                    let (superpower, why) = (squad.active_superpower, Box::new(why));
                    Err(Refusal::SquadInTheWay { superpower, why })
                }
            }
        }
        Ok(_) => Ok(()),
        Err(SquadError::Io(error)) => Err(Refusal::disk("cannot read \"squad.json\"", error)),
        Err(unreadable @ SquadError::Unreadable(_)) => {
            let aside = atomic::set_aside(&squad::path(root), Utc::now())
                .map_err(|error| Refusal::disk("\"squad.json\" cannot be moved aside", error))?;
            engine.notice(root, "warn", &format!("{unreadable}; it was moved to \"{}\"", aside.display()));
            Ok(())
        }
        Err(error @ SquadError::Invalid(_)) => Err(Refusal::UnreadableSquad { error, aside: Aside::Left }),
    }
}

fn newest_unfinished(engine: &Engine, root: &Path) -> Option<String> {
    summaries(root, &engine.keys(), &engine.secrets())
        .into_iter()
        .find(|summary| !summary.over())
        .map(|summary| summary.run_id)
}

fn nothing() -> Refusal {
    Refusal::NothingToResume(Nothing::Here)
}

/// What becomes of a `squad.json` that cannot be used: moved aside where it cannot be read, left where it can.
fn unreadable(root: &Path, error: SquadError) -> Refusal {
    let aside = match error {
        SquadError::Unreadable(_) => {
            atomic::set_aside(&squad::path(root), Utc::now()).map_or_else(Aside::Failed, Aside::Moved)
        }
        _ => Aside::Left,
    };
    Refusal::UnreadableSquad { error, aside }
}
