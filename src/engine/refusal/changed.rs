//! Files that have changed since they were shown for an approval.

use super::file_names::file_names;
use serde_json::{Value, json};
use std::fmt;

/// Why an approval was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine) enum Why {
    /// No list was shown that it could be for.
    NotShown,
    /// The files are not what was shown any more.
    Changed,
    /// They have changed once more, and nobody has a window to see that in.
    Again,
    /// They have changed once more, and no later gate is sure to list that.
    LastGate,
}

/// An approval that was not taken.
#[derive(Debug)]
pub(in crate::engine) struct Changed {
    pub why: Why,
    /// From 1.
    pub stage: usize,
    pub files: Vec<String>,
    /// The list that was shown instead.
    pub review: Option<String>,
}

impl Changed {
    /// Its code for Lua.
    pub fn code(&self) -> &'static str {
        match self.why {
            Why::NotShown => "not-shown",
            Why::Changed => "changed-since-shown",
            Why::Again | Why::LastGate => "changed-again",
        }
    }

    /// What an answer needs.
    pub fn data(&self) -> Value {
        let last = self.why == Why::LastGate;
        json!({ "files": self.files, "stage": self.stage, "review": self.review, "last": last })
    }
}

impl fmt::Display for Changed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (stage, files) = (self.stage, file_names(&self.files));
        match self.why {
            Why::NotShown => write!(
                out,
                "nothing was approved: the files under review at stage {stage} had not been shown yet; look at the list, \
                 then approve again"
            ),
            Why::Changed => write!(
                out,
                "nothing was approved: files have changed since the list of stage {stage} was shown: {files}; look at the \
                 new list, then approve again"
            ),
            Why::Again => write!(
                out,
                "files have changed again since the list of stage {stage} was shown: {files}; approve what was shown \
                 (answer=go-on)? The next gate lists the rest"
            ),
            Why::LastGate => write!(
                out,
                "files have changed again since the list of stage {stage} was shown: {files}; no later gate is sure to \
                 list them; approve (answer=go-on)?"
            ),
        }
    }
}
