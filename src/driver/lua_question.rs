//! A pending question to Lua.

use super::current_launch::working;
use crate::outcome::Session;
use crate::run::state::{Phase, Run, Step};
use std::time::{Duration, Instant};

/// A pending question to Lua.
pub(super) struct LuaQuestion {
    pub(super) id: String,
    pub(super) subject: Subject,
    /// The deadline for the answer.
    pub(super) until: Instant,
}

/// What is asked.
pub(super) enum Subject {
    /// A fact for a stage's condition.
    Fact { fact: String, stage: usize },
    Prompt {
        stage: usize,
        launch: u32,
        /// The session to continue in.
        session: Option<Session>,
    },
}

impl Subject {
    /// Why an editor is needed, for people.
    pub(super) fn needs_editor(&self) -> String {
        let what = match self {
            Self::Fact { fact, .. } => format!("the condition \"{fact}\" (option `conditions`)"),
            Self::Prompt { .. } => "the prompt (option `prompt`)".to_owned(),
        };
        format!(
            "{what} is decided by a Lua function of your Neovim configuration, and no editor is attached; \
             open the project in Neovim"
        )
    }
}

impl LuaQuestion {
    /// The time that is left for the answer.
    pub(super) fn left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }

    /// Whether the run still needs the answer.
    pub(super) fn is_wanted(&self, run: &Run) -> bool {
        match &self.subject {
            Subject::Fact { stage, .. } => {
                run.phase == Phase::Running
                    && run.current() == Some(*stage)
                    && run.stages[*stage].step == Step::Deciding
            }
            Subject::Prompt { stage, launch, .. } => working(run, *launch) == Some(*stage),
        }
    }
}
