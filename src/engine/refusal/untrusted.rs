//! The refusal of what the user has not agreed to: the sheet that a window shows, and the words of those who have none.

use crate::driver::trust::words;
use crate::project::trust::{Sheet, Trust};
use serde_json::{Value, json};
use std::fmt;

/// How the verb that was refused begins again.
#[derive(Clone, Copy, Debug)]
pub enum How {
    /// `run`.
    Run,
    /// `resume`, `approve` and those like them.
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

/// What will be driven, and why it is asked about.
#[derive(Debug)]
pub(crate) struct Untrusted {
    /// What is agreed to.
    pub digest: String,
    /// What a window shows.
    pub sheet: Sheet,
    /// Whether it was agreed to before, in another form.
    pub trust: Trust,
    /// How the verb that was refused begins again.
    pub how: How,
}

impl Untrusted {
    /// The answer that agrees where no window is, if one can.
    fn answer(&self) -> Option<&'static str> {
        match (&self.sheet.claim, &self.trust, &self.how) {
            (Some(_), ..) => Some("adopt"),
            (None, Trust::Changed(_), How::Continue) => Some("trust"),
            _ => None,
        }
    }

    /// What Lua needs to show it and to call again.
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
                "\"{name}\" was trusted before, by an older version that looked at less of what agents read and run"
            ),
            Trust::Unknown { older: false } => format!("\"{name}\" was not trusted here before"),
        };
        let verb = self.how.verb(name);
        let look = format!("look at what it does and agree with {verb} in the editor");
        let always = "or set trust = \"always\" in vim.g.superpower";
        match (&self.sheet.claim, &self.trust, &self.how) {
            (Some(claim), Trust::Trusted, _) => {
                write!(
                    out,
                    "{claim}; look at it with {verb} in the editor, or take it over with answer=adopt"
                )
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
