//! One step of a run, as the document should show it.

use super::attempt::{Attempt, is_output};
use super::figures::Figures;
use super::merge::{Written, forget, merge};
use super::record::{Record, View};
use super::status::{Status, stamp};
use crate::harness::TodoItem;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};

/// Fields about one visit. They are removed when a new visit begins after an ended one.
const OF_ONE_VISIT: [&str; 15] = [
    "tasks_total",
    "tasks_completed",
    "last_task",
    "last_commit",
    "commits",
    "issues_total",
    "issues_fixed",
    "current_issue",
    "progress.current_phase",
    "progress.total_phases",
    "progress.current_task",
    "progress.tasks_completed",
    "progress.tasks_total",
    "output_files",
    "notes",
];

/// Limit of listed files per checkpoint.
const FILES: usize = 500;

/// How urgent a write is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Dirty {
    No,
    /// At most once a second.
    Progress,
    Now,
}

/// One step, as the document should show it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Step {
    pub(super) key: String,
    pub(super) agent: String,
    pub(super) status: Status,
    pub(super) started_at: DateTime<Utc>,
    /// When the latest launch began.
    pub(super) launched_at: DateTime<Utc>,
    pub(super) completed_at: Option<DateTime<Utc>>,
    /// Whether this launch begins a visit.
    pub(super) first: bool,
    pub(super) figures: Figures,
    /// Whether the agent keeps its own list, which is more precise than the boxes of a plan.
    pub(super) listed: bool,
    /// The total that is known before the agent has a list.
    pub(super) total: Option<u64>,
    pub(super) files: Vec<String>,
    /// Ended attempts whose files were not looked up yet. A later process can no longer find them.
    #[serde(skip)]
    pub(super) unseen: Vec<Attempt>,
    /// HEAD when it was last read.
    pub(super) head: Option<String>,
    /// HEAD when a task was last finished.
    pub(super) last_commit: Option<String>,
    pub(super) commits: Vec<Value>,
    pub(super) notes: Option<String>,
    /// Whether the start of the step still has to be written.
    pub(super) claim: bool,
    /// Visits of `FIX` that were not counted yet.
    pub(super) count: u32,
    /// The track's step when this one began; `None` if the document could not be read then.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "null_or_value")]
    pub(super) seen_step: Option<Option<String>>,
    pub(super) written: Written,
    pub(super) written_at: Option<DateTime<Utc>>,
    pub(super) dirty: Dirty,
}

/// Distinguishes null from a missing field.
fn null_or_value<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

impl Step {
    /// Adds written files, each once.
    pub(super) fn list(&mut self, files: impl IntoIterator<Item = String>) {
        for file in files {
            if is_output(&file) && self.files.len() < FILES && !self.files.contains(&file) {
                self.files.push(file);
            }
        }
    }

    pub(super) fn end(&mut self, status: Status, notes: String, now: DateTime<Utc>) {
        self.status = status;
        self.completed_at = Some(now);
        self.notes = Some(notes);
        self.dirty = Dirty::Now;
    }

    /// Updates the progress from a list; returns whether a task was finished.
    pub(super) fn take(&mut self, list: &[TodoItem]) -> bool {
        let before = self.figures.clone();
        let progressed = self.figures.take(list);
        if self.figures != before {
            self.dirty = self.dirty.max(Dirty::Progress);
        }
        progressed
    }

    /// `at` is the track's step in the document before our change, if another tool has set it.
    pub(super) fn apply(&mut self, record: &mut Record, at: Option<&str>, now: DateTime<Utc>) {
        for _ in 0..std::mem::take(&mut self.count) {
            record.begin_fix();
        }
        if std::mem::take(&mut self.claim) {
            if self.seen_step.is_none() {
                // The document could not be read when the step began, so its present content is from before.
                let fields = record.checkpoint(&self.key).map(View::fields).unwrap_or_default();
                self.written = Written::starting_from(&fields);
            }
            // If the start is written late, the agent may have moved the track on in the meantime.
            if self.seen_step.as_ref().is_none_or(|seen| at.is_none() || seen.as_deref() == at) {
                record.set_current_step(&self.key, self.started_at);
            }
            self.clear_earlier_visit(record);
        }
        if self.status.is_end() {
            record.set_step_status(&self.key, self.status);
        }
        let ours = self.fields(now);
        let theirs = record.checkpoint_mut(&self.key);
        let mut always = vec!["last_updated"];
        if self.status.is_end() {
            // If the agent wrote the same end itself, its own notes and time stay.
            let agrees =
                theirs.get("status").and_then(Value::as_str).and_then(Status::read) == Some(self.status);
            always.push("status");
            if !agrees {
                always.extend(["notes", "completed_at"]);
            }
        }
        merge(theirs, &ours, &mut self.written, &always);
        self.written_at = Some(now);
        self.dirty = Dirty::No;
    }

    /// A new visit must not show the results of an ended one. A visit that continues or was only prepared is kept.
    fn clear_earlier_visit(&self, record: &mut Record) {
        let theirs = record.checkpoint_mut(&self.key);
        let status = theirs.get("status").and_then(Value::as_str).and_then(Status::read);
        if self.first && status.is_some_and(Status::is_end) {
            for path in OF_ONE_VISIT {
                forget(theirs, path, &self.written);
            }
            if theirs.get("progress").and_then(Value::as_object).is_some_and(Map::is_empty) {
                theirs.shift_remove("progress");
            }
        }
    }

    /// All fields of the checkpoint that we know.
    fn fields(&self, now: DateTime<Utc>) -> Map<String, Value> {
        let mut map = Map::new();
        map.insert("status".into(), json!(self.status.text()));
        map.insert("started_at".into(), json!(stamp(self.started_at)));
        map.insert("completed_at".into(), json!(self.completed_at.map(stamp)));
        map.insert("agent".into(), json!(self.agent));
        self.special(&mut map);
        let progress = self.progress();
        if !progress.is_empty() {
            map.insert("progress".into(), Value::Object(progress));
        }
        map.insert("output_files".into(), json!(self.files));
        map.insert("notes".into(), json!(self.notes.as_deref().unwrap_or("")));
        map.insert("last_updated".into(), json!(stamp(now)));
        map
    }

    pub(super) fn total(&self) -> Option<u64> {
        self.figures.total.or(self.total)
    }

    /// The task in progress; `None` once all are finished.
    fn doing(&self) -> Option<&str> {
        self.figures.current.as_deref().filter(|_| self.status != Status::Passed)
    }

    /// The fields that `EXECUTE` and `FIX` have besides `progress`.
    fn special(&self, map: &mut Map<String, Value>) {
        match self.key.as_str() {
            "EXECUTE" => {
                if let Some(total) = self.total() {
                    map.insert("tasks_total".into(), json!(total));
                    map.insert("tasks_completed".into(), json!(self.figures.done));
                }
                if let Some(task) = &self.figures.last {
                    map.insert("last_task".into(), json!(task));
                }
                if let Some(sha) = &self.last_commit {
                    map.insert("last_commit".into(), json!(sha));
                }
                if !self.commits.is_empty() || self.status.is_end() {
                    map.insert("commits".into(), json!(self.commits));
                }
            }
            "FIX" => {
                if let Some(total) = self.total() {
                    map.insert("issues_total".into(), json!(total));
                    map.insert("issues_fixed".into(), json!(self.figures.done));
                    map.insert("current_issue".into(), json!(self.doing()));
                }
            }
            _ => {}
        }
    }

    fn progress(&self) -> Map<String, Value> {
        let mut map = Map::new();
        let Some(total) = self.total() else { return map };
        if let Some((phase, phases)) = self.figures.phase.filter(|_| self.key == "PLAN") {
            map.insert("current_phase".into(), json!(phase));
            map.insert("total_phases".into(), json!(phases));
        }
        map.insert("current_task".into(), json!(self.doing()));
        map.insert("tasks_completed".into(), json!(self.figures.done));
        map.insert("tasks_total".into(), json!(total));
        map
    }
}
