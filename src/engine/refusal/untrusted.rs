//! The refusal of what the user has not agreed to run: the sheet that a window shows, and a message for headless use.

use crate::driver::trust::words;
use crate::project::trust::{Sheet, Trust};
use serde_json::{Value, json};
use std::fmt;

/// How to repeat the refused verb.
#[derive(Clone, Copy, Debug)]
pub enum How {
    Run,
    /// `resume`, `approve` and similar.
    Continue,
}

impl How {
    pub fn verb(self, name: &str) -> String {
        match self {
            Self::Run => format!(":Superpower run {name}"),
            Self::Continue => ":Superpower resume".to_owned(),
        }
    }
}

/// What would be driven, and why the user is asked.
#[derive(Debug)]
pub(crate) struct Untrusted {
    /// The digest that an answer agrees to.
    pub digest: String,
    pub sheet: Sheet,
    /// Whether the user agreed before, to another version.
    pub trust: Trust,
    pub how: How,
}

impl Untrusted {
    /// The answer that agrees without a window, if there is one.
    fn answer(&self) -> Option<&'static str> {
        match (&self.sheet.claim, &self.trust, &self.how) {
            (Some(_), ..) => Some("adopt"),
            (None, Trust::Changed(_), How::Continue) => Some("trust"),
            _ => None,
        }
    }

    /// The data that Lua needs to show it and to call again.
    pub fn data(&self) -> Value {
        json!({
            "digest": self.digest, "changed": !self.sheet.changes.is_empty(), "changes": words(&self.sheet.changes),
            "sheet": self.sheet, "name": self.sheet.superpower, "answer": self.answer(),
        })
    }
}

impl fmt::Display for Untrusted {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.sheet.superpower;
        let what = match &self.trust {
            Trust::Trusted => String::new(),
            Trust::Changed(changes) => {
                format!("\"{name}\" has changed since you trusted it: {}", words(changes).join(", "))
            }
            Trust::Unknown { older: true } => format!(
                "\"{name}\" was trusted by an older version, which covered less of what agents read and run"
            ),
            Trust::Unknown { older: false } => format!("\"{name}\" is not trusted yet"),
        };
        let verb = self.how.verb(name);
        let look =
            format!("review what it does and agree with {verb} in the editor or superpower trust {name}");
        let always = "or set trust = \"always\" in vim.g.superpower";
        match (&self.sheet.claim, &self.trust, &self.how) {
            (Some(claim), Trust::Trusted, _) => {
                write!(out, "{claim}; review it with {verb} in the editor, or take it over with answer=adopt")
            }
            (Some(claim), ..) => write!(out, "{claim}; {what}; {look}, {always}"),
            (None, Trust::Changed(_), How::Continue) => {
                write!(out, "{what}; {look}, or agree here with answer=trust, {always}")
            }
            (None, ..) => write!(out, "{what}; {look}, {always}"),
        }
    }
}

impl std::error::Error for Untrusted {}
