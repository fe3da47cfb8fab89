//! The refusal of a run that is not ours: what its files claim, and what it would drive.

use crate::project::trust::Sheet;
use serde_json::{Value, json};
use std::fmt;

/// A run of somebody else's, as a human is shown it before it becomes theirs.
#[derive(Debug)]
pub(crate) struct ForeignRun {
    /// The superpower.
    pub name: String,
    /// The run.
    pub run_id: String,
    /// What its files say has happened.
    pub claim: Vec<String>,
    /// What it would drive, with the digest of that; none where that cannot be read.
    pub sheet: Option<(String, Sheet)>,
}

impl ForeignRun {
    /// What Lua needs to show it and to call again.
    pub fn data(&self) -> Value {
        let mut data = json!({ "claim": self.claim, "name": self.name, "run_id": self.run_id });
        if let Some((digest, sheet)) = &self.sheet {
            data["digest"] = json!(digest);
            data["sheet"] = json!(sheet);
            data["answer"] = json!("adopt");
        }
        data
    }
}

impl fmt::Display for ForeignRun {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "this run of {} was not started by you on this machine, or by an older version: its files say that {}. Look \
             at what it would do and agree with :Superpower resume in the editor; headless, answer=adopt makes it yours \
             where you trust what it would drive; :Superpower cancel files it away",
            self.name,
            self.claim.join(", ")
        )
    }
}

impl std::error::Error for ForeignRun {}
