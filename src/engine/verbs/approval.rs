//! Checks an approval against the files as they were shown. If they have changed since, the first approval is refused
//! with the changes. The next approval counts for the list that was shown last; later changes appear in the next gate's
//! list.

use super::answers::{Answers, Choice};
use super::gate_lists::Given;
use crate::driver::gate_review::{Comparer, GateReview};
use crate::engine::core::Engine;
use crate::engine::refusal::Refusal;
use crate::engine::refusal::changed::{Changed, Why};
use crate::project::review::TreeId;
use crate::run::decide::asks_again_after;
use crate::run::shown::Shown;
use crate::runs::open::Opened;

/// Maximum number of files that a refusal or record names.
const NAMED: usize = 50;

/// An approval of an open gate that is to be checked.
pub struct Approval<'a> {
    pub engine: &'a Engine,
    pub comparer: &'a Comparer<'a>,
    pub opened: &'a Opened,
    pub stage: usize,
    pub answers: &'a Answers,
}

/// Why an approval was refused, and what was shown instead.
pub struct Held {
    pub refusal: Refusal,
    /// The record for the journal; `None` if nothing new was shown.
    pub shown: Option<Shown>,
    pub list: Option<GateReview>,
}

impl Approval<'_> {
    /// Returns the files that have changed since the list was made; an error if the user has to see them first.
    pub fn check(&self, given: Option<&Given>) -> Result<Vec<String>, Box<Held>> {
        let Some(given) = given else { return Err(self.show_first(Why::NotShown, Vec::new())) };
        // There was no list, and the window said so.
        let Some(tree) = given.shown.tree.as_deref().and_then(TreeId::parse) else { return Ok(Vec::new()) };
        let changed = match self.comparer.changed_since(&tree) {
            Ok(files) if files.is_empty() => return Ok(Vec::new()),
            Ok(files) => self.named(files.into_iter().map(|file| file.path)),
            // A user who exits right after pressing the key has decided. The next gate lists the changes.
            Err(_) if self.engine.is_exiting() && asks_again_after(&self.opened.run, self.stage) => {
                return Ok(Vec::new());
            }
            Err(_) if self.comparer.cancel.is_set() => return Err(self.cancelled()),
            Err(why) => vec![why],
        };
        if !given.after_held {
            return Err(self.show_first(Why::Changed, changed));
        }
        let headless = self.engine.config().headless;
        let again = asks_again_after(&self.opened.run, self.stage);
        if (headless || !again) && !self.answers.has(Choice::GoOn) {
            let why = if again { Why::Again } else { Why::LastGate };
            let refusal = Changed { why, stage: self.stage + 1, files: changed, review: None };
            return Err(Box::new(Held { refusal: Refusal::Changed(refusal), shown: None, list: None }));
        }
        Ok(changed)
    }

    /// Makes a new list, which the user has to see before approving.
    fn show_first(&self, why: Why, changed: Vec<String>) -> Box<Held> {
        let Opened { dir, run, .. } = self.opened;
        let (list, shown) = self.comparer.make(dir, run, self.stage, self.comparer.compare(run));
        let Some(mut shown) = shown else { return self.cancelled() };
        shown.held = why == Why::Changed;
        shown.printed = self.engine.config().headless;
        let review = shown.id().map(str::to_owned);
        let refusal = Refusal::Changed(Changed { why, stage: self.stage + 1, files: changed, review });
        Box::new(Held { refusal, shown: Some(shown), list: Some(list) })
    }

    fn cancelled(&self) -> Box<Held> {
        Box::new(Held { refusal: Refusal::ComparisonCancelled, shown: None, list: None })
    }

    fn named(&self, files: impl Iterator<Item = String>) -> Vec<String> {
        let mut files: Vec<String> =
            files.map(|path| self.comparer.secrets.mask(&path).into_owned()).collect();
        let more = files.len().saturating_sub(NAMED);
        files.truncate(NAMED);
        files.extend((more > 0).then(|| format!("{more} more")));
        files
    }
}
