//! The answers to the questions with which a verb was refused.

use serde::Deserialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Continue with the old declaration.
    Old,
    /// Continue with the edited declaration.
    New,
    /// Continue although reviewed files have changed since the approval.
    GoOn,
    /// Reopen the gate to review the changed files.
    LookAgain,
    /// Take over a foreign run, with what its files claim.
    Adopt,
    /// Agree to what has changed since the last agreement.
    Trust,
    /// Continue a damaged run from the readable part of its journal.
    Repair,
}

/// The words as users type them.
const WORDS: [(&str, Choice); 7] = [
    ("old", Choice::Old),
    ("new", Choice::New),
    ("go-on", Choice::GoOn),
    ("look-again", Choice::LookAgain),
    ("adopt", Choice::Adopt),
    ("trust", Choice::Trust),
    ("repair", Choice::Repair),
];

/// Answers given so far, such as `new,go-on`, because a verb may ask more than one question.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Answers {
    choices: Vec<Choice>,
    /// The digest of the changes that a window showed and the user agreed to.
    shown: Option<String>,
}

impl Answers {
    pub fn has(&self, choice: Choice) -> bool {
        self.choices.contains(&choice)
    }

    /// The answers that continue with the run's own declaration.
    pub fn old() -> Self {
        Self { choices: vec![Choice::Old], shown: None }
    }

    /// These answers, with agreement to the changes that a gate's window showed.
    pub fn agreeing(&self, shown: Option<&String>) -> Self {
        Self { shown: shown.cloned(), ..self.clone() }
    }

    /// The same without agreeing to anything that has changed.
    pub fn agreeing_to_nothing(&self) -> Self {
        let choices = self.choices.iter().copied().filter(|choice| *choice != Choice::Trust).collect();
        Self { choices, shown: None }
    }

    /// Whether they agree to the changed superpower with this digest.
    pub fn agree(&self, digest: &str) -> bool {
        // `adopt` together with `trust` is not enough: the changes have not been shown then.
        self.has(Choice::Trust) && !self.has(Choice::Adopt) || self.shown.as_deref() == Some(digest)
    }
}

impl TryFrom<String> for Answers {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let choice = |word: &str| {
            let known = WORDS.iter().find(|(known, _)| *known == word);
            known.map(|(_, choice)| *choice).ok_or_else(|| {
                let names = WORDS.map(|(known, _)| known);
                let hint = crate::suggest::did_you_mean(word, names);
                let (last, others) = names.split_last().expect("there are words");
                format!("unknown answer \"{word}\"{hint}; expected {} or {last}", others.join(", "))
            })
        };
        let choices = text.split(',').map(choice).collect::<Result<_, _>>()?;
        Ok(Self { choices, shown: None })
    }
}
