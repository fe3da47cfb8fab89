//! Declarations that are open in the editor: their text as it is typed, and what the checker says of it.
//!
//! The editor's main loop is held no longer than part of a frame. What a person writes is checked at once; a text that is
//! too large for that, or so broken that it takes many readings, is checked in a thread, and an event brings the answer.
//! Of the texts of one document only the newest counts: an older one that nobody has begun to check is forgotten.

use super::lsp_types;
use crate::assist::Verdict;
use crate::check::{self, Checked, Context};
use crate::declaration::chunks::Chunks;
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::engine::queue::Queue;
use crate::source::Span;
use crate::sync::locked;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// The largest text that is checked at once.
const AT_ONCE: usize = 96 * 1024;
/// From here on a text is long.
const LONG: usize = 16 * 1024;
/// How many bytes may be read to mend its syntax: a few milliseconds.
const ALLOWANCE: usize = 160 * 1024;
/// How many faults the editor is given: each costs it time to show, and nobody reads more.
pub const SHOWN: usize = 200;

/// A document's newest text.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    pub root: Option<PathBuf>,
    pub path: PathBuf,
    pub text: String,
    pub tick: i64,
    /// Whether the text is the last part of one whose other parts came before.
    #[serde(default)]
    pub parts: bool,
    /// How large a text is that is too large to be sent.
    bytes: Option<u64>,
    /// The encoding in which the editor keeps the file, where that is not UTF-8.
    encoding: Option<String>,
}

/// A text and what the checker says of it.
pub struct Reading {
    /// The project, where there is one.
    pub root: Option<PathBuf>,
    /// The file.
    pub path: PathBuf,
    /// The editor's number of this text.
    pub tick: i64,
    /// What the checker says.
    pub checked: Checked,
}

/// The open documents.
#[derive(Default)]
pub struct Documents {
    open: Mutex<HashMap<PathBuf, Slot>>,
}

#[derive(Default)]
struct Slot {
    newest: i64,
    reading: Option<Arc<Reading>>,
    job: Option<Job>,
    /// A thread is at work for this document.
    busy: bool,
    /// The first parts of a text whose last one has not come yet, with its number.
    parts: Option<(i64, String)>,
    /// What is known of the text before the next edit.
    chunks: Option<Chunks>,
    /// What the stages would do, and how many there were, when there last was no error.
    verdicts: (usize, Vec<Verdict>),
}

/// What a text is checked against.
pub enum Against {
    /// This.
    Known(Context),
    /// What the disk has yet to tell.
    Unread(Box<dyn FnOnce() -> Context + Send>),
}

struct Job {
    document: Document,
    against: Against,
    chunks: Chunks,
}

impl Documents {
    /// The newest reading of a document, if it is the one that the editor means.
    pub fn reading(&self, path: &Path, tick: i64) -> Option<Arc<Reading>> {
        let open = locked(&self.open);
        open.get(path)?.reading.clone().filter(|reading| reading.tick == tick)
    }

    /// Keeps what so many stages would do; where that cannot be decided, gives what is kept of as many.
    pub fn verdicts(&self, path: &Path, stages: usize, decided: Option<Vec<Verdict>>) -> Vec<Verdict> {
        let mut open = locked(&self.open);
        let Some(slot) = open.get_mut(path) else { return decided.unwrap_or_default() };
        if let Some(decided) = decided {
            slot.verdicts = (stages, decided);
        }
        if slot.verdicts.0 == stages { slot.verdicts.1.clone() } else { Vec::new() }
    }
}

impl Documents {
    /// Takes a document's newest text; gives what the checker says where that is soon known. Else a thread is at it, and
    /// an event will say.
    pub fn take_text(
        self: &Arc<Self>,
        document: Document,
        against: Against,
        queue: &Arc<Queue>,
    ) -> Option<Arc<Reading>> {
        let mut job = Job { chunks: self.chunks(&document.path), document, against };
        match job.quickly() {
            Some(checked) => {
                let (reading, chunks) = reading(job.document, checked, job.chunks);
                Some(self.keep(reading, chunks))
            }
            None => {
                self.hand_over(job, queue);
                None
            }
        }
    }

    /// Takes a part of a text; false where those before it are not of the same one, or it is too long.
    pub fn add_part(&self, path: PathBuf, tick: i64, text: String, first: bool) -> bool {
        let mut open = locked(&self.open);
        let slot = open.entry(path).or_default();
        if first {
            slot.parts = Some((tick, text));
            return true;
        }
        let known = slot.parts.as_mut().filter(|(of, _)| *of == tick);
        match known.filter(|(_, known)| known.len() + text.len() <= 2 * check::MAX_BYTES) {
            Some((_, known)) => {
                known.push_str(&text);
                true
            }
            None => false,
        }
    }

    /// The parts that have come of this text.
    pub fn take_parts(&self, path: &Path, tick: i64) -> Option<String> {
        let parts = locked(&self.open).get_mut(path).and_then(|slot| slot.parts.take());
        parts.filter(|(of, _)| *of == tick).map(|(_, text)| text)
    }

    /// Forgets a document.
    pub fn close(&self, path: &Path) {
        locked(&self.open).remove(path);
    }

    /// Gives the job to the document's thread, and starts that where it is not at work.
    fn hand_over(self: &Arc<Self>, job: Job, queue: &Arc<Queue>) {
        let path = job.document.path.clone();
        let mut open = locked(&self.open);
        let slot = open.entry(path.clone()).or_default();
        (slot.newest, slot.job) = (job.document.tick, Some(job));
        if std::mem::replace(&mut slot.busy, true) {
            return;
        }
        drop(open);
        let (documents, bell, of) = (self.clone(), queue.clone(), path.clone());
        let thread = std::thread::Builder::new().name("superpower-check".to_owned());
        // Without a thread it is done here: late, but the editor does not wait for an event that never comes.
        if thread.spawn(move || documents.work(&of, &bell)).is_err() {
            self.work(&path, queue);
        }
    }

    /// Checks the newest text of a document until there is no newer one.
    fn work(&self, path: &Path, queue: &Queue) {
        while let Some(job) = self.take(path) {
            let tick = job.document.tick;
            let read = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| job.perform()));
            if let Some(event) = self.put(path, tick, read.ok()) {
                queue.push_latest(&format!("diagnostics {}", path.display()), event);
            }
        }
    }

    /// The next text of a document to check; none ends its thread.
    fn take(&self, path: &Path) -> Option<Job> {
        let mut open = locked(&self.open);
        let slot = open.get_mut(path)?;
        let job = slot.job.take();
        slot.busy = job.is_some();
        job
    }

    /// What is known of a document's text, which is not known here until it is given back.
    fn chunks(&self, path: &Path) -> Chunks {
        let mut open = locked(&self.open);
        let known = open.get_mut(path).and_then(|slot| slot.chunks.take());
        known.unwrap_or_else(Chunks::of_edited)
    }

    /// Keeps a reading of the newest text.
    fn keep(&self, reading: Reading, chunks: Chunks) -> Arc<Reading> {
        let mut open = locked(&self.open);
        let slot = open.entry(reading.path.clone()).or_default();
        (slot.newest, slot.job, slot.chunks) = (reading.tick, None, Some(chunks));
        let reading = Arc::new(reading);
        let older = slot.reading.replace(reading.clone());
        drop(open);
        drop(older);
        reading
    }

    /// Keeps what was read where it still is the newest, and makes the event.
    fn put(&self, path: &Path, tick: i64, read: Option<(Reading, Chunks)>) -> Option<Value> {
        let (reading, chunks) = read.unzip();
        // A check that failed has said so in the log; the editor must not wait for ever.
        let mut event = reading.as_ref().map_or_else(|| json!({ "tick": tick, "diagnostics": [] }), view);
        let mut open = locked(&self.open);
        let slot = open.get_mut(path)?;
        slot.chunks = slot.chunks.take().or(chunks);
        if slot.newest != tick {
            return None;
        }
        slot.reading = reading.map(Arc::new);
        event["type"] = json!("diagnostics");
        event["path"] = json!(path);
        Some(event)
    }
}

impl Job {
    /// Checks the text if that does not take long.
    fn quickly(&mut self) -> Option<Checked> {
        let (Against::Known(context), text) = (&self.against, &self.document.text) else { return None };
        (text.len() <= AT_ONCE)
            .then(|| check::check_edited(text, context, ALLOWANCE, &mut self.chunks))
            .flatten()
    }

    fn perform(self) -> (Reading, Chunks) {
        let Self { document, against, mut chunks } = self;
        let context = match against {
            Against::Known(context) => context,
            Against::Unread(read) => read(),
        };
        let checked = check::check_edited(&document.text, &context, usize::MAX, &mut chunks);
        let checked = checked.unwrap_or_else(|| check::check(&document.text, &context));
        reading(document, checked, chunks)
    }
}

/// What the checker says, and what only the editor knows of the file.
fn reading(document: Document, mut checked: Checked, chunks: Chunks) -> (Reading, Chunks) {
    let Document { root, path, tick, bytes, encoding, .. } = document;
    if let Some(bytes) = bytes {
        checked = Checked::refused(Code::Limit, check::too_large(bytes));
    }
    if let Some(encoding) = encoding {
        // The editor has made it a text; who reads the file finds none.
        let end = checked.source.offset(0, usize::MAX);
        let message = format!("the file is written as \"{encoding}\": save it as UTF-8");
        checked.diagnostics.insert(0, Diagnostic::new(Code::YamlSyntax, Span::new(0, end), "", message));
        checked.declaration = None;
    }
    (Reading { root, path, tick, checked }, chunks)
}

/// The faults for the editor, the worst ones where there are too many.
pub fn view(reading: &Reading) -> Value {
    let Checked { source, diagnostics, .. } = &reading.checked;
    let uri = lsp_types::uri(&reading.path);
    let mut shown: Vec<&Diagnostic> = diagnostics.iter().collect();
    if shown.len() > SHOWN {
        shown.sort_by_key(|fault| fault.severity);
        shown.truncate(SHOWN);
        shown.sort_by_key(|fault| fault.span);
    }
    // Of a long text the editor is spared the counting of columns.
    let columns = |fault: &Diagnostic, value: &mut Value| {
        let column = |offset| source.position(offset).col;
        value["columns"] = json!([column(fault.span.start), column(fault.span.end)]);
    };
    let view = |fault: &Diagnostic| {
        let mut value = lsp_types::diagnostic(source, &uri, fault);
        if source.text().len() > LONG {
            columns(fault, &mut value);
        }
        value
    };
    let mut all: Vec<Value> = shown.iter().map(|fault| view(fault)).collect();
    if diagnostics.len() > SHOWN {
        let message = format!("{} faults; only {SHOWN} of them are shown", diagnostics.len());
        let more = Diagnostic {
            severity: Severity::Hint,
            ..Diagnostic::new(Code::Limit, Span::default(), "", message)
        };
        all.push(view(&more));
    }
    json!({ "tick": reading.tick, "diagnostics": all })
}
