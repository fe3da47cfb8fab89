//! Declarations that are open in the editor: their newest text and the checker's result.
//!
//! The editor's main loop must not be blocked for longer than part of a frame. A text of usual size is checked at once;
//! one that is too large, or so broken that it takes many parses, is checked on a thread, and an event brings the result.
//! Only the newest text of a document counts: an older one that still waits is dropped.

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

/// The largest text that is checked on the main thread, in bytes.
const AT_ONCE: usize = 96 * 1024;
/// Above this size in bytes, columns are computed here and not in Lua.
const LONG: usize = 16 * 1024;
/// How many bytes the syntax fixes may parse on the main thread; takes a few milliseconds.
const ALLOWANCE: usize = 160 * 1024;
/// Maximum number of diagnostics sent to the editor, because each takes time to show.
pub const MAX_SHOWN: usize = 200;

/// The newest text of a document.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    pub root: Option<PathBuf>,
    pub path: PathBuf,
    pub text: String,
    pub tick: i64,
    /// Whether the text is the last part, and the parts before it were sent with `document-part`.
    #[serde(default)]
    pub parts: bool,
    /// The size of a text that is too large to send; `text` is empty then.
    bytes: Option<u64>,
    /// The file's encoding in the editor, if it is not UTF-8.
    encoding: Option<String>,
}

/// A text with the checker's result.
pub struct Reading {
    pub root: Option<PathBuf>,
    pub path: PathBuf,
    /// The editor's `changedtick` of this text.
    pub tick: i64,
    pub checked: Checked,
}

#[derive(Default)]
pub struct Documents {
    open: Mutex<HashMap<PathBuf, Slot>>,
}

#[derive(Default)]
struct Slot {
    newest: i64,
    reading: Option<Arc<Reading>>,
    job: Option<Job>,
    /// Whether a thread checks this document.
    busy: bool,
    /// The parts received so far of a text, with its tick.
    parts: Option<(i64, String)>,
    /// The parsed chunks of the previous text, which are reused.
    chunks: Option<Chunks>,
    /// The number of stages and their hints, from the last text without errors.
    verdicts: (usize, Vec<Verdict>),
}

/// The context that a text is checked in.
pub enum Against {
    Known(Context),
    /// A context that must be read from disk first.
    Unread(Box<dyn FnOnce() -> Context + Send>),
}

struct Job {
    document: Document,
    against: Against,
    chunks: Chunks,
}

impl Documents {
    /// The result for this tick, if it is the newest.
    pub fn reading(&self, path: &Path, tick: i64) -> Option<Arc<Reading>> {
        let open = locked(&self.open);
        open.get(path)?.reading.clone().filter(|reading| reading.tick == tick)
    }

    /// Stores new hints; without any, returns the stored ones if the number of stages is the same.
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
    /// Takes the newest text of a document. Returns the result if it is quick to compute; otherwise a thread computes it and
    /// an event brings it.
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

    /// Adds a part of a text; false if the parts before it belong to another text, or if it is too long.
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

    /// Takes the parts received so far of this text.
    pub fn take_parts(&self, path: &Path, tick: i64) -> Option<String> {
        let parts = locked(&self.open).get_mut(path).and_then(|slot| slot.parts.take());
        parts.filter(|(of, _)| *of == tick).map(|(_, text)| text)
    }

    pub fn close(&self, path: &Path) {
        locked(&self.open).remove(path);
    }

    /// Gives the job to the document's thread, and starts the thread if none runs.
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
        // Without a thread the check runs here: slow, but the editor would wait for an event that never comes.
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

    /// Takes the next job of a document; `None` ends its thread.
    fn take(&self, path: &Path) -> Option<Job> {
        let mut open = locked(&self.open);
        let slot = open.get_mut(path)?;
        let job = slot.job.take();
        slot.busy = job.is_some();
        job
    }

    /// Takes the chunks of the previous text; they are given back with the result.
    fn chunks(&self, path: &Path) -> Chunks {
        let mut open = locked(&self.open);
        let known = open.get_mut(path).and_then(|slot| slot.chunks.take());
        known.unwrap_or_else(Chunks::of_edited)
    }

    /// Stores the result of the newest text.
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

    /// Stores the result if it is still the newest, and builds the event.
    fn put(&self, path: &Path, tick: i64, read: Option<(Reading, Chunks)>) -> Option<Value> {
        let (reading, chunks) = read.unzip();
        // A check that panicked is in the log; the event is sent anyway, so that the editor does not wait for it.
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
    /// Checks the text if that is quick.
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

/// The checker's result, with what only the editor knows about the file.
fn reading(document: Document, mut checked: Checked, chunks: Chunks) -> (Reading, Chunks) {
    let Document { root, path, tick, bytes, encoding, .. } = document;
    if let Some(bytes) = bytes {
        checked = Checked::refused(Code::Limit, check::too_large(bytes));
    }
    if let Some(encoding) = encoding {
        // The editor has decoded the text, but the file itself is not UTF-8 and could not be run.
        let end = checked.source.offset(0, usize::MAX);
        let message = format!("the file encoding is \"{encoding}\": save it as UTF-8");
        checked.diagnostics.insert(0, Diagnostic::new(Code::YamlSyntax, Span::new(0, end), "", message));
        checked.declaration = None;
    }
    (Reading { root, path, tick, checked }, chunks)
}

/// The diagnostics for the editor; the most severe ones if there are too many.
pub fn view(reading: &Reading) -> Value {
    let Checked { source, diagnostics, .. } = &reading.checked;
    let uri = lsp_types::uri(&reading.path);
    let mut shown: Vec<&Diagnostic> = diagnostics.iter().collect();
    if shown.len() > MAX_SHOWN {
        shown.sort_by_key(|fault| fault.severity);
        shown.truncate(MAX_SHOWN);
        shown.sort_by_key(|fault| fault.span);
    }
    // Counting the columns of a long text in Lua is slow.
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
    if diagnostics.len() > MAX_SHOWN {
        let message = format!("{} problems; only {MAX_SHOWN} of them are shown", diagnostics.len());
        let more = Diagnostic {
            severity: Severity::Hint,
            ..Diagnostic::new(Code::Limit, Span::default(), "", message)
        };
        all.push(view(&more));
    }
    json!({ "tick": reading.tick, "diagnostics": all })
}
