//! The answers to the questions that a verb was refused with.

use serde::Deserialize;

/// An answer to a question that a verb was refused with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The declaration as it was.
    Old,
    /// The declaration as it is.
    New,
    /// Continue although files under review have changed since the approval.
    GoOn,
    /// Look at them again.
    LookAgain,
    /// Take over a run of somebody else's, with what its files claim.
    Adopt,
    /// Agree to what has changed since the last yes.
    Trust,
    /// Continue a damaged run from what is left of it.
    Repair,
}

/// The words for the choices, as they are typed.
const WORDS: [(&str, Choice); 7] = [
    ("old", Choice::Old),
    ("new", Choice::New),
    ("go-on", Choice::GoOn),
    ("look-again", Choice::LookAgain),
    ("adopt", Choice::Adopt),
    ("trust", Choice::Trust),
    ("repair", Choice::Repair),
];

/// The answers given so far, as in `new,go-on`: one verb may have to ask more than one question.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Answers {
    choices: Vec<Choice>,
    /// The digest of what was shown as changed, and is agreed to.
    shown: Option<String>,
}

impl Answers {
    /// Whether this answer was given.
    pub fn has(&self, choice: Choice) -> bool {
        self.choices.contains(&choice)
    }

    /// Those that continue with the declaration that the run keeps.
    pub fn old() -> Self {
        Self { choices: vec![Choice::Old], shown: None }
    }

    /// The same, with a yes to what a gate's window showed as changed.
    pub fn agreeing(&self, shown: Option<&String>) -> Self {
        Self { shown: shown.cloned(), ..self.clone() }
    }

    /// Whether they agree to what has this digest and was agreed to before in another form.
    pub fn agree(&self, digest: &str) -> bool {
        // Who takes a run over by a word has not seen what the word would agree to.
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
