//! Why a run on disk cannot simply be resumed.

use super::open::Opened;
use crate::store::journal::Damage;
use std::fmt;

/// Why a run cannot simply be resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsound {
    /// It is a foreign run.
    Foreign,
    /// Its journal has lost records.
    Damaged(Damage),
}

impl Unsound {
    /// The reason shown for the pause.
    pub fn word(self) -> &'static str {
        match self {
            Self::Foreign => "foreign",
            Self::Damaged(_) => "damaged",
        }
    }
}

impl fmt::Display for Unsound {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Foreign => out.write_str(
                "not started by you on this machine, or started by an older version; :Superpower resume shows what it would do",
            ),
            Self::Damaged(damage) => write!(
                out,
                "the journal is damaged at byte {}; :Superpower resume shows what is lost and how to continue",
                damage.offset
            ),
        }
    }
}

/// Whether the run cannot simply be resumed, and why.
pub fn unsound(opened: &Opened) -> Option<Unsound> {
    if !opened.contents.ours {
        return Some(Unsound::Foreign);
    }
    opened.contents.damaged.map(Unsound::Damaged)
}
