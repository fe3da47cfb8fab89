//! What keeps a run on disk from being taken up as it is.

use super::open::Opened;
use crate::store::journal::Damage;
use std::fmt;

/// Why a run cannot be taken up as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsound {
    /// It is not ours.
    Foreign,
    /// Its journal has lost records.
    Damaged(Damage),
}

impl Unsound {
    /// The reason that is shown for its pause.
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
                "not started by you on this machine, or by an older version: :Superpower resume shows what it would do",
            ),
            Self::Damaged(damage) => write!(
                out,
                "the journal is damaged at byte {}: :Superpower resume shows what is lost, and how to continue",
                damage.offset
            ),
        }
    }
}

/// Whether a run cannot be taken up as it is.
pub fn unsound(opened: &Opened) -> Option<Unsound> {
    if !opened.contents.ours {
        return Some(Unsound::Foreign);
    }
    opened.contents.damaged.map(Unsound::Damaged)
}
