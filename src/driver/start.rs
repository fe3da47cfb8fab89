//! Starts a drive for a new run, or resumes one. Both first take the lease.

use super::adopt;
use super::checkpoint_writer::CheckpointWriter;
use super::handle::Handle;
use super::keeper::Keeper;
use super::lock::{StartError, lock};
use super::mailbox::mailbox;
use super::performer::Performer;
use super::review_worker::ReviewWorker;
use super::{Drive, Host, Shared, checkpoint_recovery};
use crate::declaration::model::InputKind;
use crate::environ;
use crate::outcome::ProcessRecord;
use crate::plan::{Inputs, Plan};
use crate::run::effect::Effect;
use crate::run::event::{Adopted, Event, Record};
use crate::run::machine::{self};
use crate::run::replace;
use crate::run::state::Run;
use crate::runs::open::{self, Opened};
use crate::runs::projection;
use crate::runs::replay::{digest, saved_plan};
use crate::store::journal::{self, Journal, JournalError, Place};
use crate::store::lease::Lease;
use crate::store::rundir::RunDir;
use crate::store::squad;
use crate::sync::{AtEnd, Once};
use serde_json::json;
use std::collections::VecDeque;
use std::path::Path;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};

pub struct NewRun {
    pub plan: Plan,
    /// The declaration's bytes, which are copied to the run's directory.
    pub declaration: Vec<u8>,
    /// From the user.
    pub inputs: Inputs,
    /// The harness given on the command line.
    pub harness: Option<String>,
    pub by: String,
    /// Set if another tool's `squad.json` is taken over.
    pub adopted: Option<Adopted>,
}

/// Begins a new run.
pub fn begin(host: Arc<Host>, root: &Path, new: NewRun) -> Result<Handle, StartError> {
    let lease = lock(root)?;
    checkpoint_recovery::take_up(&host, root, "");
    let run_id = uuid::Uuid::now_v7().to_string();
    let dir = RunDir::create(root, &run_id)?;
    let place = Place::new(&dir, &host.keys);
    let (run, effects, journal) = match make(&host, &dir, &place, run_id, new) {
        Ok(made) => made,
        Err(error) => {
            // Remove a run that did not start.
            let _ = dir.door().remove_tree(dir.path());
            return Err(error);
        }
    };
    let mut drive = Parts { host, root, dir, run, journal, lease, left_behind: None, logged: 0 }.assemble();
    drive.fresh = effects;
    drive.start_thread()
}

fn make(
    host: &Host,
    dir: &RunDir,
    place: &Place,
    run_id: String,
    new: NewRun,
) -> Result<(Run, Vec<Effect>, Journal), StartError> {
    // An allowed value is public in the declaration. It is not a secret even if an environment variable has the same
    // value, and masking it would change it.
    let declared = &new.plan.declaration.inputs;
    let listed =
        |name: &str| declared.iter().any(|it| it.name.value == name && !matches!(it.kind, InputKind::String));
    let listed: Inputs =
        new.inputs.iter().filter(|(name, _)| listed(name)).map(|(n, v)| (n.clone(), v.clone())).collect();
    let secrets = |(name, value): (&String, &String)| {
        let names = host.secrets.within(value);
        (!names.is_empty()).then(|| (name.clone(), names))
    };
    let hidden =
        new.inputs.iter().filter(|(name, _)| !listed.contains_key(*name)).filter_map(secrets).collect();
    let event = Event::RunStarted {
        run_id,
        superpower: new.plan.name().to_owned(),
        version: new.plan.declaration.version.value.clone(),
        declaration: dir.keep_declaration(&new.declaration)?,
        digest: Some(digest(&new.declaration)),
        inputs: new.inputs,
        harness: new.harness,
        by: new.by,
        adopted: new.adopted,
        hidden,
    };
    let record = Record { at: (host.clock)(), event };
    let mut kept = record.clone();
    kept.event.texts(&mut |text| *text = host.secrets.mask(text).into_owned());
    if let Event::RunStarted { inputs, .. } = &mut kept.event {
        inputs.extend(listed);
    }
    let mut journal = Journal::create(place)?;
    journal.append(&kept);
    journal.flush()?;
    let (run, effects) = machine::start(Arc::new(new.plan), &record);
    Ok((run, effects, journal))
}

/// How a run that nobody drives is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It is ours and complete.
    Whole,
    /// It is ours, and continues without the records that its journal has lost.
    Repaired,
    /// It is foreign and becomes ours.
    Adopted,
}

/// Resumes a run: replays its journal, asks `admit` how to open it, treats what a crash has left as an interruption,
/// and passes it to `verb`, which returns the events to apply. If one of them is refused, none is saved; an adoption
/// or repair before that stays.
pub fn take_up<E: From<StartError>>(
    host: Arc<Host>,
    root: &Path,
    run_id: &str,
    admit: impl FnOnce(&Opened) -> Result<Admission, E>,
    verb: impl FnOnce(&Opened) -> Result<Vec<Event>, E>,
) -> Result<Handle, E> {
    let lease = lock(root)?;
    checkpoint_recovery::take_up(&host, root, run_id);
    // If the run is not driven, its waiting checkpoints would have no writer.
    let ready = ready(&host, root, run_id, admit, verb)
        .inspect_err(|_| checkpoint_recovery::take_up(&host, root, ""))?;
    let Ready { opened, journal, events, left_behind } = ready;
    let Opened { dir, run, lines: logged, .. } = opened;
    let mut drive = Parts { host, root, dir, run, journal, lease, left_behind, logged }.assemble();
    let taken = events.into_iter().try_for_each(|event| drive.take(event));
    match taken.and_then(|()| Ok(drive.keeper.flush()?)) {
        Ok(()) => Ok(drive.start_thread()?),
        Err(error) => {
            drive.discard();
            Err(error.into())
        }
    }
}

/// Writes into the journal of a run that nobody drives what was shown of it. One whose journal is not ours or not whole
/// is left alone: that is put right where it is driven.
pub fn record(host: &Host, root: &Path, run_id: &str, event: Event) -> Result<(), StartError> {
    let _lease = lock(root)?;
    let mut opened = open::open(root, run_id, &host.keys)?;
    journal::writable(&opened.place, &opened.contents)?;
    let contents = &opened.contents;
    if !contents.ours || contents.damaged.is_some() || !contents.foreign_lines.is_empty() {
        return Ok(());
    }
    let mut record = Record { at: (host.clock)(), event };
    record.event.texts(&mut |text| host.prepare(text));
    machine::step(&mut opened.run, &record)?;
    let mut journal = Journal::open(&opened.place, &opened.contents)?;
    journal.append(&record);
    journal.flush()?;
    Ok(())
}

/// A run that a drive can be made of.
struct Ready {
    opened: Opened,
    journal: Journal,
    /// The verb's events.
    events: Vec<Event>,
    left_behind: Option<Vec<ProcessRecord>>,
}

/// Prepares a run on disk for a drive. The caller holds the lease.
fn ready<E: From<StartError>>(
    host: &Arc<Host>,
    root: &Path,
    run_id: &str,
    admit: impl FnOnce(&Opened) -> Result<Admission, E>,
    verb: impl FnOnce(&Opened) -> Result<Vec<Event>, E>,
) -> Result<Ready, E> {
    let mut opened = open::open(root, run_id, &host.keys).map_err(StartError::from)?;
    // We do not understand all records of a newer version, so we must not cut or rewrite them.
    journal::writable(&opened.place, &opened.contents).map_err(StartError::from)?;
    let adopted = admit(&opened)? == Admission::Adopted;
    if adopted {
        let kept = adopt::adopt(host, root, &mut opened)?;
        let (name, kept) = (opened.run.plan.name(), kept.strip_prefix(root).unwrap_or(&kept).display());
        warn(host, root, &format!("{name} is now your run; its original journal was saved as \"{kept}\""));
    }
    opened.reveal(&host.secrets);
    let interrupted = opened.interrupt();
    repair(host, root, &mut opened).map_err(StartError::from)?;
    let mut journal = Journal::open(&opened.place, &opened.contents).map_err(StartError::from)?;
    if let Some(record) = interrupted {
        journal.append(&record);
        journal.flush().map_err(StartError::from)?;
    }
    if !opened.run.phase.ended() || is_current(root, run_id) {
        let aside = projection::write(root, &opened.run, &host.secrets, &host.keys);
        if let Some(aside) = aside.map_err(StartError::from)? {
            warn(host, root, &projection::moved(&aside));
        }
    }
    let events = verb(&opened)?;
    // Process ids in a foreign run may belong to any process.
    let left_behind = Some(opened.run.processes()).filter(|_| !adopted);
    Ok(Ready { opened, journal, events, left_behind })
}

/// Removes damaged and foreign lines from the journal and reports it. The run continues from what is left.
fn repair(host: &Host, root: &Path, opened: &mut Opened) -> Result<(), JournalError> {
    let (damaged, strange) = (opened.contents.damaged, opened.contents.foreign_lines.len());
    if damaged.is_none() && strange == 0 {
        return Ok(());
    }
    let aside = journal::set_aside(&opened.place, &mut opened.contents, (host.clock)())?;
    let (run, aside) = (&opened.run, aside.strip_prefix(root).unwrap_or(&aside).display());
    let (name, stage, total) = (run.plan.name(), run.current_position(), run.plan.total());
    let what = match damaged {
        Some(damage) => format!(
            "the journal of {name} was damaged at line {}: the run is back at stage {stage}/{total}, \
             and may ask or do again what was lost",
            damage.line
        ),
        None => format!(
            "ignored {} in the journal of {name} that superpower.nvim did not write",
            crate::run::log::count(strange, "line")
        ),
    };
    warn(host, root, &format!("{what}; the original journal was saved as \"{aside}\""));
    Ok(())
}

fn warn(host: &Host, root: &Path, message: &str) {
    host.send(&json!({ "type": "notice", "root": root, "level": "warn", "message": message }));
}

/// Whether `squad.json` names this run or none, so that showing a finished run does not replace another one.
fn is_current(root: &Path, run_id: &str) -> bool {
    let named = squad::read(root).ok().flatten();
    named.is_none_or(|squad| squad.run_id.as_deref() == Some(run_id))
}

/// The parts of a drive.
struct Parts<'a> {
    host: Arc<Host>,
    root: &'a Path,
    dir: RunDir,
    run: Run,
    journal: Journal,
    lease: Lease,
    left_behind: Option<Vec<ProcessRecord>>,
    /// The number of log lines from before.
    logged: usize,
}

impl Parts<'_> {
    fn assemble(self) -> Drive {
        let (outbox, inbox) = mailbox();
        let shared: Arc<Shared> = Arc::default();
        shared.logged().before = self.logged;
        let reviews = Arc::new(ReviewWorker::new(self.host.clone(), self.root, shared.cancel.clone()));
        let checkpoints = CheckpointWriter::open(&reviews, &self.dir, &self.run, outbox.clone(), &shared);
        let keeper =
            Keeper::new(self.host.clone(), self.root, &self.run, self.journal, self.lease, shared.clone());
        Drive {
            keeper,
            performer: Performer::new(reviews, self.dir, outbox, checkpoints),
            host: self.host,
            root: self.root.to_owned(),
            run: self.run,
            inbox,
            shared,
            fresh: Vec::new(),
            queue: VecDeque::new(),
            announcements: Vec::new(),
            replies: Vec::new(),
            trusted: Default::default(),
            left_behind: self.left_behind,
            leave: None,
            held: None,
            over: false,
            failed: false,
        }
    }
}

impl Drive {
    /// Starts the thread of the drive.
    fn start_thread(mut self) -> Result<Handle, StartError> {
        let (run_id, shared) = (self.run.run_id.clone(), self.shared.clone());
        let outbox = self.performer.outbox.clone();
        self.keeper.draw(&self.run, &mut self.performer);
        let host = self.host.clone();
        let (start, started) = channel();
        let over = Arc::new(Once::default());
        let end = AtEnd(over.clone());
        let work = move || {
            let _end = end;
            // Wait until the caller has its answer.
            let _ = started.recv();
            let ran = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| self.run()));
            if ran.is_err() {
                let message = "internal error; the run can be resumed with :Superpower resume; see the log";
                host.send(&json!({ "type": "notice", "level": "error", "message": message }));
            }
        };
        // What others ask for meanwhile changes nothing for it.
        std::thread::Builder::new().name("superpower-drive".into()).spawn(environ::carried(work))?;
        Ok(Handle { run_id, outbox, start: Mutex::new(Some(start)), shared, over })
    }

    /// The drive does not start. Its unwritten checkpoints are retried.
    fn discard(self) {
        self.performer.checkpoints.close(&self.host, &self.root, &self.run);
    }

    /// Applies a verb's event, which may give the run another declaration.
    fn take(&mut self, event: Event) -> Result<(), StartError> {
        if let Event::DeclarationReplaced { declaration, version, .. } = &event {
            let (plan, _) = saved_plan(&self.performer.dir, declaration, &self.run.plan.inputs)?;
            let record = Record { at: (self.host.clock)(), event: event.clone() };
            self.keeper.record(&record);
            replace::replace(&mut self.run, Arc::new(plan), record.at);
            self.performer.checkpoints.replanned(&self.run.plan);
            let name = self.run.plan.name();
            let text = format!("{name} continues with its edited declaration, v{version}");
            self.fresh.push(Effect::Say(text));
            return Ok(());
        }
        Ok(self.step(event)?)
    }
}
