//! The script of the `fake` harness, for tests.

use super::signal::{Question, Signal};
use super::task::Launch;
use crate::outcome::Outcome;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

#[derive(Clone, Debug)]
pub enum Step {
    Tell(Signal),
    /// Does nothing for a while.
    Sleep(Duration),
    /// Asks, and waits for the answer; a denial ends the script with `NeedsHuman`.
    Ask(Question),
    /// Waits to be stopped.
    Hang,
    /// Panics, like a harness with a bug.
    Panic,
    /// Ends with this outcome and this message.
    End(Outcome, String),
}

type Steps = dyn Fn(&Launch) -> Vec<Step> + Send + Sync;

/// The steps for each launch.
#[derive(Clone)]
pub struct Script(pub(super) Arc<Steps>);

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Script")
    }
}

impl Script {
    pub(super) fn steps(&self, launch: &Launch) -> Vec<Step> {
        (self.0)(launch)
    }
}
