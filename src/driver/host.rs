//! What a drive needs from whoever holds it.

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

/// Bytes of any one text in the journal.
const TEXT: usize = 32 * 1024;

/// Hands the editor an event, written; with a key, one that still waits under it is replaced.
pub type Publish = Box<dyn Fn(Option<&str>, Arc<str>) + Send + Sync>;

/// What a drive needs from whoever holds it.
pub struct Host {
    /// Tells the editor something. With a key, an event that still waits under the same key is replaced.
    pub publish: Publish,
    /// The wall clock.
    pub clock: Box<dyn Fn() -> DateTime<Utc> + Send + Sync>,
    /// The configuration.
    pub config: Config,
    /// The harnesses.
    pub harnesses: Harnesses,
    /// Values that never appear in anything that is kept or shown.
    pub secrets: Secrets,
    /// What makes the files of a run ours.
    pub keys: Keyring,
    /// Checkpoints that earlier drives could not write.
    pub unwritten: Arc<unwritten_checkpoints::Unwritten>,
}

impl Host {
    /// Tells the editor something that must arrive.
    pub(super) fn say(&self, event: &Value) {
        (self.publish)(None, event.to_string().into());
    }

    /// What it takes to look at a project's files.
    pub fn looks<'a>(&'a self, cancel: &'a CancelToken, root: &'a Path) -> gate_review::Looks<'a> {
        gate_review::Looks { cancel, root, keys: &self.keys, secrets: &self.secrets }
    }

    /// Prepares a text for the journal: nothing secret, and no more of it than anybody will read.
    pub(super) fn keep(&self, text: &mut String) {
        if let Cow::Owned(masked) = self.secrets.mask(text) {
            *text = masked;
        }
        if text.len() > TEXT {
            text.truncate(crate::prompt::head(text, TEXT).len());
        }
    }
}
