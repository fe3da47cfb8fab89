//! The refusal of a run that this user did not start on this machine: what its files claim, and what it would drive.

use crate::project::trust::Sheet;
use serde_json::{Value, json};
use std::fmt;

/// A foreign run, as it is shown before a user adopts it.
#[derive(Debug)]
pub(crate) struct ForeignRun {
    pub name: String,
    pub run_id: String,
    /// What its files claim has happened.
    pub claim: Vec<String>,
    /// The trust sheet of what it would drive, with its digest; `None` if that cannot be read.
    pub sheet: Option<(String, Sheet)>,
}

impl ForeignRun {
    /// The data that Lua needs to show it and to call again.
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
            "this run of {} was not started by you on this machine, or was started by an older version. Its files claim: \
             {}. Review what it would do and agree with :Superpower resume in the editor; headless, answer=adopt makes \
             the run yours if you trust it; :Superpower cancel moves its files aside",
            self.name,
            self.claim.join(", ")
        )
    }
}

impl std::error::Error for ForeignRun {}
