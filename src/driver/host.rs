//! What a drive needs from its environment.

use super::delivery::Delivery;
use super::user_call::UserCall;
use super::{gate_review, unwritten_checkpoints};
use crate::config::Config;
use crate::harness::Harnesses;
use crate::process::Secrets;
use crate::project::review::CancelToken;
use crate::store::keyring::Keyring;
use chrono::{DateTime, Utc};
use serde_json::Value;
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

/// Size limit of a text in the journal, in bytes.
const TEXT: usize = 32 * 1024;

/// Sends a serialized event to those who follow the run.
pub type Publish = Box<dyn Fn(Delivery<'_>, Arc<str>) + Send + Sync>;

/// What a drive needs from its environment.
pub struct Host {
    /// Sends an event to those who follow the run.
    pub publish: Publish,
    /// Calls the user, who may look elsewhere.
    pub call_user: Box<dyn Fn(UserCall) + Send + Sync>,
    /// Whether an editor is there to ask for what Lua decides.
    pub has_lua: Box<dyn Fn() -> bool + Send + Sync>,
    /// Why a run is interrupted when this process ends, for people.
    pub exit_words: &'static str,
    pub clock: Box<dyn Fn() -> DateTime<Utc> + Send + Sync>,
    pub config: Config,
    pub harnesses: Harnesses,
    /// Values that are masked in everything that is saved or shown.
    pub secrets: Secrets,
    /// Seals the files of a run.
    pub keys: Keyring,
    /// Checkpoints that earlier drives could not write.
    pub unwritten: Arc<unwritten_checkpoints::Unwritten>,
}

impl Host {
    /// Sends an event to everybody who follows.
    pub(super) fn send(&self, event: &Value) {
        (self.publish)(Delivery::Everyone, event.to_string().into());
    }

    /// What a comparison of a project's files needs.
    pub fn comparer<'a>(&'a self, cancel: &'a CancelToken, root: &'a Path) -> gate_review::Comparer<'a> {
        gate_review::Comparer { cancel, root, keys: &self.keys, secrets: &self.secrets }
    }

    /// Prepares a text for the journal: masks secrets and limits its length.
    pub(super) fn prepare(&self, text: &mut String) {
        if let Cow::Owned(masked) = self.secrets.mask(text) {
            *text = masked;
        }
        if text.len() > TEXT {
            text.truncate(crate::prompt::head(text, TEXT).len());
        }
    }
}
