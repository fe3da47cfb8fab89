//! A request that was refused: what Lua gets as `err`, with what it needs to ask and call again.

use crate::driver::open::OpenError;
use crate::driver::start::StartError;
use crate::run::machine;
use crate::store::journal::JournalError;
use serde_json::{Value, json};
use std::any::Any;
use std::fmt::Display;

/// What Lua gets as `err`.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// Stable, in kebab-case.
    pub code: &'static str,
    /// For people: what is wrong, and what to do.
    pub message: String,
    /// What an answer needs; null for nothing.
    pub data: Value,
}

impl Refusal {
    /// Without data.
    pub fn new(code: &'static str, message: impl Display) -> Self {
        Self { code, message: message.to_string(), data: Value::Null }
    }

    /// With data.
    pub fn with(code: &'static str, message: impl Display, data: Value) -> Self {
        Self { code, message: message.to_string(), data }
    }

    /// As the door gives it.
    pub fn json(&self) -> Value {
        let mut err = json!({ "code": self.code, "message": self.message });
        if !self.data.is_null() {
            err["data"] = self.data.clone();
        }
        json!({ "err": err })
    }

    /// Of a caught panic.
    pub fn of_panic(panic: &(dyn Any + Send)) -> Self {
        let text = panic
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        Self::new("panic", format!("the engine panicked: {}", text.unwrap_or("no message")))
    }
}

impl From<StartError> for Refusal {
    fn from(error: StartError) -> Self {
        let message = error.to_string();
        match error {
            StartError::DrivenElsewhere(holder) => Self::with("driven-elsewhere", message, json!(holder)),
            StartError::Open(error) => error.into(),
            StartError::Journal(JournalError::Key(_)) => Self::new("no-state", message),
            StartError::Journal(_) | StartError::Disk(_) => Self::new("disk", message),
            StartError::Refused(refusal) => refusal.into(),
        }
    }
}

impl From<OpenError> for Refusal {
    fn from(error: OpenError) -> Self {
        let code = match error {
            OpenError::Name(_) => "not-a-run-id",
            OpenError::Missing(_) => "nothing-to-resume",
            _ => "unreadable-run",
        };
        Self::new(code, error)
    }
}

impl From<machine::Refusal> for Refusal {
    fn from(refusal: machine::Refusal) -> Self {
        use machine::Refusal as R;
        let code = match &refusal {
            R::Ended { state, .. } => {
                return Self::with("finished", &refusal, json!({ "state": state }));
            }
            R::NotNow { .. } => "not-now",
            R::NoGate => "no-gate",
            R::StaleGate { open, .. } => {
                return Self::with("stale-gate", &refusal, json!({ "gate": open }));
            }
            R::CommentMissing => "comment-missing",
            R::NothingToRework => "nothing-to-rework",
            R::Stale => "stale",
        };
        Self::new(code, refusal)
    }
}
