//! What an approval is for: the files as they were shown. Where they have changed since, the first approval is not taken
//! but answered with what changed, and the next one is taken for what was shown last: what changed after that stands in
//! the next gate's list.

use super::answers::{Answers, Choice};
use super::gate_lists::Given;
use crate::driver::gate_review::{GateReview, Looks};
use crate::engine::core::Engine;
use crate::engine::refusal::Refusal;
use crate::engine::refusal::changed::{Changed, Why};
use crate::project::review::TreeId;
use crate::run::decide::asks_again_after;
use crate::run::shown::Shown;
use crate::runs::open::Opened;

/// Files that a refusal, or a record, names.
const NAMED: usize = 50;

/// An approval at an open gate.
pub struct Approval<'a> {
    pub engine: &'a Engine,
    pub looks: &'a Looks<'a>,
    pub opened: &'a Opened,
    pub stage: usize,
    pub answers: &'a Answers,
}

/// Why an approval is not taken, and what was shown instead.
pub struct Held {
    pub refusal: Refusal,
    /// For the journal; none where nothing new was shown.
    pub shown: Option<Shown>,
    /// The list itself.
    pub list: Option<GateReview>,
}

impl Approval<'_> {
    /// Gives what has changed since what it is for was made; an error where that has to be seen first.
    pub fn weigh(&self, given: Option<&Given>) -> Result<Vec<String>, Box<Held>> {
        let Some(given) = given else { return Err(self.show_first(Why::NotShown, Vec::new())) };
        // Where there was no list, that was said.
        let Some(tree) = given.shown.tree.as_deref().and_then(TreeId::parse) else { return Ok(Vec::new()) };
        let changed = match self.looks.changed_since(&tree) {
            Ok(files) if files.is_empty() => return Ok(Vec::new()),
            Ok(files) => self.named(files.into_iter().map(|file| file.path)),
            // Who leaves the editor right after the key has decided. The next gate lists what has changed.
            Err(_) if self.engine.is_exiting() && asks_again_after(&self.opened.run, self.stage) => {
                return Ok(Vec::new());
            }
            Err(_) if self.looks.cancel.is_set() => return Err(self.given_up()),
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

    /// Makes the list that has to be seen before anything is approved.
    fn show_first(&self, why: Why, changed: Vec<String>) -> Box<Held> {
        let Opened { dir, run, .. } = self.opened;
        let (list, shown) = self.looks.make(dir, run, self.stage, self.looks.compare(run));
        let Some(mut shown) = shown else { return self.given_up() };
        shown.held = why == Why::Changed;
        shown.printed = self.engine.config().headless;
        let review = shown.id().map(str::to_owned);
        let refusal = Refusal::Changed(Changed { why, stage: self.stage + 1, files: changed, review });
        Box::new(Held { refusal, shown: Some(shown), list: Some(list) })
    }

    fn given_up(&self) -> Box<Held> {
        Box::new(Held { refusal: Refusal::LookGivenUp, shown: None, list: None })
    }

    fn named(&self, files: impl Iterator<Item = String>) -> Vec<String> {
        let mut files: Vec<String> = files.map(|path| self.looks.secrets.mask(&path).into_owned()).collect();
        let more = files.len().saturating_sub(NAMED);
        files.truncate(NAMED);
        files.extend((more > 0).then(|| format!("{more} more")));
        files
    }
}
