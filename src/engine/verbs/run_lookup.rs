//! Finds the run that a verb is about, and takes over other tools' `squad.json`.

use super::adoption::{Takeover, adopt, over};
use super::run_id::{resolve_id, starting_with};
use crate::driver::lock::StartError;
use crate::engine::core::Engine;
use crate::engine::refusal::{Aside, Nothing, Refusal};
use crate::runs::list::summaries;
use crate::store::atomic;
use crate::store::journal::{self, Place};
use crate::store::lease;
use crate::store::rundir::RunDir;
use crate::store::squad::{self, Squad, SquadError};
use crate::store::summary::{self, Summary};
use chrono::Utc;
use std::path::Path;

/// The current run of a project.
enum CurrentRun {
    /// A run of ours: active in this editor, or named by `squad.json`.
    Ours(String),
    Foreign(Squad),
    /// No `squad.json`.
    Nothing,
}

fn current_run(engine: &Engine, root: &Path) -> Result<CurrentRun, SquadError> {
    if let Some(drive) = engine.drive(root).filter(|drive| !drive.is_over()) {
        return Ok(CurrentRun::Ours(drive.run_id.clone()));
    }
    Ok(match squad::read(root)? {
        // An ended run whose files were moved aside no longer counts.
        Some(squad) if squad.run_id.is_some() && over(&squad).is_some() && is_gone(root, &squad) => {
            CurrentRun::Nothing
        }
        Some(Squad { run_id: Some(run_id), .. }) => CurrentRun::Ours(run_id),
        Some(foreign) => CurrentRun::Foreign(foreign),
        None => CurrentRun::Nothing,
    })
}

/// Whether `squad.json` names another tool's run.
pub fn is_other_tools(engine: &Engine, root: &Path) -> bool {
    matches!(current_run(engine, root), Ok(CurrentRun::Foreign(_)))
}

fn is_gone(root: &Path, squad: &Squad) -> bool {
    let dir = squad.run_id.as_ref().and_then(|run_id| RunDir::of(root, run_id).ok());
    dir.is_some_and(|dir| !dir.door().is_dir(dir.path()))
}

/// The run that verbs without a name act on. Another tool's run is taken over.
pub fn current(engine: &Engine, root: &Path, takeover: &Takeover) -> Result<String, Refusal> {
    match current_run(engine, root) {
        Ok(CurrentRun::Ours(run_id)) => Ok(run_id),
        Ok(CurrentRun::Foreign(foreign)) => take_over(engine, root, &foreign, takeover),
        Ok(CurrentRun::Nothing) => newest_unfinished(engine, root).ok_or_else(nothing),
        Err(error) => Err(unreadable(root, error)),
    }
}

/// The run that is shown if none is named. Changes nothing: takes nothing over and moves nothing aside.
pub fn shown(engine: &Engine, root: &Path) -> Result<String, Refusal> {
    match current_run(engine, root) {
        Ok(CurrentRun::Ours(run_id)) => Ok(run_id),
        Ok(CurrentRun::Foreign(_)) => Err(Refusal::NothingToResume(Nothing::AnotherTools)),
        Ok(CurrentRun::Nothing) => summaries(root, &engine.keys(), &engine.secrets())
            .into_iter()
            .next()
            .map(|newest| newest.run_id)
            .ok_or_else(nothing),
        Err(error) => Err(Refusal::UnreadableSquad { error, aside: Aside::Left }),
    }
}

/// The run that `resume WHICH` means, and the number of other unfinished runs of that superpower.
pub fn named(
    engine: &Engine,
    root: &Path,
    which: &str,
    takeover: &Takeover,
) -> Result<(String, usize), Refusal> {
    let all = summaries(root, &engine.keys(), &engine.secrets());
    // A superpower's name wins over the start of an id, because the folder of a run may have any name.
    let named = all.iter().any(|summary| summary.superpower == which);
    if which.len() >= 4
        && !named
        && let Some(run_id) = starting_with(root, which)?
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
        return take_over(engine, root, foreign, takeover).map(|run_id| (run_id, unfinished.len()));
    }
    let current = here.and_then(|squad| squad.run_id);
    let named = unfinished.iter().find(|summary| Some(&summary.run_id) == current.as_ref());
    // For a finished run the machine's refusal says how it ended.
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

/// Whether the named run, or else the current one, is in this project and foreign. Works for unreadable runs too.
pub fn is_foreign(engine: &Engine, root: &Path, given: Option<&str>) -> bool {
    let named = match given {
        Some(given) => resolve_id(root, given).ok(),
        None => squad::read(root).ok().flatten().and_then(|squad| squad.run_id),
    };
    let dir = named.and_then(|run_id| RunDir::of(root, &run_id).ok());
    dir.is_some_and(|dir| {
        let keys = engine.keys();
        let ours = || journal::begun_by_us(&Place::new(&dir, &keys));
        // A run of ours whose journal was lost or overwritten still has its summary.
        dir.door().is_dir(dir.path()) && !ours() && summary::read(root, dir.run_id(), &keys).is_none()
    })
}

/// Adds what to do to the refusal of an unreadable run, which no verb can continue.
pub fn explain_unreadable(engine: &Engine, root: &Path, run_id: &str, refusal: Refusal) -> Refusal {
    let current = squad::read(root).ok().flatten().filter(|squad| squad.run_id.as_deref() == Some(run_id));
    let is_gone = refusal.is_nothing() && current.is_some();
    if !is_gone && !refusal.is_unreadable() {
        return refusal;
    }
    let name = summary::read(root, run_id, &engine.keys()).map(|kept| kept.summary.superpower);
    let superpower = name.or(current.map(|squad| squad.active_superpower)).unwrap_or_else(|| "NAME".into());
    Refusal::Lost { why: Box::new(refusal), superpower }
}

/// Takes over another tool's run. A refusal that only a change of the file can avert says how to go on without it.
fn take_over(engine: &Engine, root: &Path, squad: &Squad, takeover: &Takeover) -> Result<String, Refusal> {
    adopt(engine, root, squad, takeover).map_err(|why| match why {
        Refusal::UnknownSuperpower(_) | Refusal::InvalidDeclaration { .. } | Refusal::SquadPastEnd { .. } => {
            Refusal::SquadNotTaken(Box::new(why))
        }
        why => why,
    })
}

/// Moves a `squad.json` aside that no run can be taken from, with a notice, so that its run counts as cancelled. `why` is
/// the refusal that says so.
pub fn cancel_squad(engine: &Engine, root: &Path, why: Refusal) -> Result<(), Refusal> {
    if let Refusal::UnreadableSquad { aside: Aside::Moved(_) | Aside::Failed(_), .. } = why {
        // The file may have named a run that is still unfinished.
        let is_gone = matches!(&why, Refusal::UnreadableSquad { aside: Aside::Moved(_), .. });
        if !is_gone || newest_unfinished(engine, root).is_some() {
            return Err(why);
        }
        engine.notice(root, "warn", &why.to_string());
        return Ok(());
    }
    if let Some(holder) = lease::holder(root) {
        return Err(StartError::DrivenElsewhere(holder).into());
    }
    let aside = atomic::file_away(&squad::path(root), Utc::now())
        .map_err(|error| Refusal::disk("cannot move \"squad.json\" aside", error))?;
    let words = format!("moved \"squad.json\", whose run cannot be taken over, to \"{}\"", aside.display());
    engine.notice(root, "warn", &words);
    Ok(())
}

/// Saves another tool's run before `squad.json` is overwritten, by taking it over. An unreadable `squad.json` is moved
/// aside, with a notice; one that is readable but cannot be taken over stays, and the verb is refused.
pub fn save_foreign_run(engine: &Engine, root: &Path) -> Result<(), Refusal> {
    match squad::read(root) {
        Ok(Some(squad)) if squad.run_id.is_none() && over(&squad).is_none() => {
            match adopt(engine, root, &squad, &Takeover::Quietly) {
                Ok(run_id) => {
                    let name = squad.active_superpower;
                    let text = format!(
                        "saved the run of {name} that another tool started; continue it with :Superpower resume {run_id}"
                    );
                    engine.notice(root, "info", &text);
                    Ok(())
                }
                // These errors prevent any run from starting; they do not concern this one.
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
                .map_err(|error| Refusal::disk("cannot move \"squad.json\" aside", error))?;
            engine.notice(root, "warn", &format!("{unreadable}; it was moved to \"{}\"", aside.display()));
            Ok(())
        }
        Err(error @ (SquadError::Invalid(_) | SquadError::NotARun(_))) => {
            Err(Refusal::UnreadableSquad { error, aside: Aside::Left })
        }
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

/// The refusal of an unusable `squad.json`: moved aside if unreadable, left in place if it can be read.
fn unreadable(root: &Path, error: SquadError) -> Refusal {
    let aside = match error {
        SquadError::Unreadable(_) => {
            atomic::set_aside(&squad::path(root), Utc::now()).map_or_else(Aside::Failed, Aside::Moved)
        }
        _ => Aside::Left,
    };
    Refusal::UnreadableSquad { error, aside }
}
