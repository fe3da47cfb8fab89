//! The words behind a verb: `run=ID`, `answer=…`, `review=…`, `key=value`, and comments.

use crate::refused::Refused;
use crate::verbs::Verb;
use clap::ArgMatches;
use serde_json::{Map, Value};
use std::collections::VecDeque;

/// What was typed behind a verb.
#[derive(Debug, Default)]
pub struct Given {
    words: VecDeque<String>,
    pub digest: Option<String>,
}

impl Given {
    pub fn of(verb: &Verb, matches: &ArgMatches) -> Self {
        let words =
            matches.try_get_many::<String>("words").ok().flatten().into_iter().flatten().cloned().collect();
        let digest = verb.digest.then(|| matches.get_one::<String>("digest").cloned()).flatten();
        Self { words, digest }
    }

    /// Takes `run=ID`, if that is the first word.
    pub fn run_id(&mut self) -> Result<Option<String>, Refused> {
        match self.keyed("run") {
            Some(id) if id.is_empty() => {
                Err(Refused::usage("run= needs a run id or its first characters (see superpower runs)"))
            }
            id => Ok(id),
        }
    }

    /// Takes `answer=…`, if that is the next word.
    pub fn answer(&mut self) -> Option<String> {
        self.keyed("answer")
    }

    /// Takes `review=…`, if that is the next word: the list of changes that a decision is for.
    pub fn review(&mut self) -> Option<String> {
        let id = self.words.front()?.strip_prefix("review=")?;
        let fits = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        fits.then(|| self.keyed("review")).flatten()
    }

    /// Takes the next word, if it is no `key=value`.
    pub fn name(&mut self) -> Option<String> {
        if self.words.front()?.contains('=') { None } else { self.words.pop_front() }
    }

    /// Takes a word that is `key=…`. A comment with spaces is one word, and no such word.
    fn keyed(&mut self, key: &str) -> Option<String> {
        let value = self.words.front()?.strip_prefix(key)?.strip_prefix('=')?;
        if value.contains(char::is_whitespace) {
            return None;
        }
        let value = value.to_owned();
        self.words.pop_front();
        Some(value)
    }

    /// All that is left, as one text.
    pub fn comment(self) -> Option<String> {
        let comment = Vec::from(self.words).join(" ");
        Some(comment).filter(|comment| !comment.trim().is_empty())
    }

    pub fn rest(self) -> Vec<String> {
        self.words.into()
    }

    /// All that is left, as `key=value`.
    pub fn pairs(self) -> Result<Map<String, Value>, Refused> {
        let mut pairs = Map::new();
        for word in self.words {
            let (key, value) = word.split_once('=').filter(|(key, _)| is_key(key)).ok_or_else(|| {
                Refused::usage(format!(
                    "expected key=value, got \"{word}\"; quote a value with spaces: key=\"two words\""
                ))
            })?;
            if pairs.insert(key.to_owned(), value.into()).is_some() {
                return Err(Refused::usage(format!("\"{key}\" is given twice")));
            }
        }
        Ok(pairs)
    }

    /// Refuses further words.
    pub fn nothing_more(self, verb: &str, takes: &str) -> Result<(), Refused> {
        match self.comment() {
            None => Ok(()),
            Some(more) => Err(Refused::usage(format!("{verb} takes {takes}, got \"{more}\""))),
        }
    }
}

fn is_key(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(words: &[&str]) -> Given {
        Given { words: words.iter().map(|word| (*word).to_owned()).collect(), digest: None }
    }

    #[test]
    fn keys_are_words_of_their_own_and_comments_are_not() {
        let mut it = given(&["run=019a", "review=a1b2", "answer=go-on", "looks", "| good"]);
        assert_eq!(it.run_id().unwrap().as_deref(), Some("019a"));
        assert_eq!(it.answer(), None, "another word stands first");
        assert_eq!((it.review().as_deref(), it.answer().as_deref()), (Some("a1b2"), Some("go-on")));
        assert_eq!(it.comment().as_deref(), Some("looks | good"));
        assert_eq!(given(&["run=x is wrong"]).run_id().unwrap(), None);
        assert!(given(&["run="]).run_id().is_err());
        assert_eq!(given(&["review=xyz"]).review(), None);
        assert_eq!(given(&[" "]).comment(), None);
    }

    #[test]
    fn pairs_have_a_key_each_and_once() {
        let pairs = given(&["a=1", "b-c=two words", "d_=x=y", "e="]).pairs().unwrap();
        assert_eq!(
            Value::Object(pairs),
            serde_json::json!({"a": "1", "b-c": "two words", "d_": "x=y", "e": ""})
        );
        for (words, expected) in [
            (&["epic"][..], "expected key=value, got \"epic\""),
            (&["=1"], "expected key=value"),
            (&["a b=1"], "expected key=value"),
            (&["a=1", "a=2"], "\"a\" is given twice"),
        ] {
            assert!(given(words).pairs().unwrap_err().text().contains(expected), "{words:?}");
        }
    }
}
