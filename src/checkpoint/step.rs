//! One step of a run, as it should stand in the document.

use super::attempt::{Attempt, is_output};
use super::figures::Figures;
use super::merge::{Written, forget, merge};
use super::record::{Record, View};
use super::status::{Status, stamp};
use crate::harness::TodoItem;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};

/// Fields that tell of one visit. Those of an earlier, ended one are taken away when a new one begins.
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

/// Files that a checkpoint lists.
const FILES: usize = 500;

/// How urgent a write is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Dirty {
    No,
    /// At most once a second.
    Progress,
    /// At once.
    Now,
}

/// One step, as it should stand in the document.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Step {
    pub(super) key: String,
    pub(super) agent: String,
    pub(super) status: Status,
    pub(super) started_at: DateTime<Utc>,
    /// When the newest launch began.
    pub(super) launched_at: DateTime<Utc>,
    pub(super) completed_at: Option<DateTime<Utc>>,
    /// Begins a visit.
    pub(super) first: bool,
    pub(super) figures: Figures,
    /// The agent keeps a list of its own, which tells more than the boxes of a plan.
    pub(super) listed: bool,
    /// Known before the agent keeps a list.
    pub(super) total: Option<u64>,
    pub(super) files: Vec<String>,
    /// Ended attempts whose files in the tree were not looked for yet. A later process cannot find them any more.
    #[serde(skip)]
    pub(super) unseen: Vec<Attempt>,
    /// HEAD as it was seen last.
    pub(super) head: Option<String>,
    /// HEAD when a task was done last.
    pub(super) last_commit: Option<String>,
    pub(super) commits: Vec<Value>,
    pub(super) notes: Option<String>,
    /// The beginning is not written yet.
    pub(super) claim: bool,
    /// Visits of `FIX` that are not counted yet.
    pub(super) count: u32,
    /// The step that the track was at when this began; none where the document could not be read then.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "there")]
    pub(super) seen_step: Option<Option<String>>,
    pub(super) written: Written,
    pub(super) written_at: Option<DateTime<Utc>>,
    pub(super) dirty: Dirty,
}

/// What is there is known, also where it is null.
fn there<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

impl Step {
    /// Lists files that were written, each once.
    pub(super) fn list(&mut self, files: impl IntoIterator<Item = String>) {
        for file in files {
            if is_output(&file) && self.files.len() < FILES && !self.files.contains(&file) {
                self.files.push(file);
            }
        }
    }

    /// It is over.
    pub(super) fn end(&mut self, status: Status, notes: String, now: DateTime<Utc>) {
        self.status = status;
        self.completed_at = Some(now);
        self.notes = Some(notes);
        self.dirty = Dirty::Now;
    }

    /// Takes a list in; says whether a task was done.
    pub(super) fn take(&mut self, list: &[TodoItem]) -> bool {
        let before = self.figures.clone();
        let progressed = self.figures.take(list);
        if self.figures != before {
            self.dirty = self.dirty.max(Dirty::Progress);
        }
        progressed
    }

    /// `at` is the step that somebody else has brought the track to, as the document was before we changed it.
    pub(super) fn apply(&mut self, record: &mut Record, at: Option<&str>, now: DateTime<Utc>) {
        for _ in 0..std::mem::take(&mut self.count) {
            record.begin_fix();
        }
        if std::mem::take(&mut self.claim) {
            if self.seen_step.is_none() {
                // It could not be read when the step began, so what stands there now is from before it.
                let there = record.checkpoint(&self.key).map(View::fields).unwrap_or_default();
                self.written = Written::starting_from(&there);
            }
            // Where the beginning is written late, the agent may have moved the track on meanwhile.
            if self.seen_step.as_ref().is_none_or(|seen| at.is_none() || seen.as_deref() == at) {
                record.claim_step(&self.key, self.started_at);
            }
            self.clear_earlier_visit(record);
        }
        if self.status.is_end() {
            record.settle_step(&self.key, self.status);
        }
        let ours = self.fields(now);
        let theirs = record.checkpoint_mut(&self.key);
        let mut always = vec!["last_updated"];
        if self.status.is_end() {
            // Where the agent says the same end itself, its own words and time for it stay.
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

    /// A new visit does not show what an ended one has left. What goes on, or was only prepared, stays.
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

    /// The whole checkpoint, as far as we know it.
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

    /// What is being done; nothing any more where all is done.
    fn doing(&self) -> Option<&str> {
        self.figures.current.as_deref().filter(|_| self.status != Status::Passed)
    }

    /// What `EXECUTE` and `FIX` keep beside `progress`.
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
