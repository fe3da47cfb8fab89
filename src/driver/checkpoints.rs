//! Connects a performer's launches with the checkpoints.

use super::checkpoint_writer::Ending;
use super::performer::Performer;
use crate::checkpoint::place::plan_file;
use crate::checkpoint::{self, Attempt, End, Start};
use crate::outcome::Outcome;
use crate::plan::Actor;
use crate::run::failure::Failure;
use crate::run::state::Run;
use chrono::{DateTime, Utc};

impl Performer {
    /// A launch starts; the error says why it must not.
    pub(super) fn checkpoint_started(&mut self, run: &Run, stage: usize) -> Result<(), String> {
        let now = (self.host.clock)();
        let actor = run.plan.actor(stage).name();
        let first = run.stages[stage].visit.launches == 1;
        let Some(key) = self.checkpoints.key(stage).map(str::to_owned) else { return Ok(()) };
        let inputs = run.plan.stage_inputs(stage, &|other| run.result(other));
        let inputs = inputs.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let total = checkpoint::planned(&self.root, &key, inputs.clone());
        let plan = plan_file(&self.root, &key, inputs);
        let start = Start { key, agent: actor.to_owned(), first, total, plan };
        let started = self.checkpoints.handle.started(start, now);
        self.checkpoints.touched();
        started.map_err(|refused| refused.to_string())
    }

    /// How a finished launch ends in its checkpoint, from its outcome, its final message and the end of its output.
    pub(super) fn ending(
        &mut self,
        run: &Run,
        stage: usize,
        outcome: &Outcome,
        (message, tail): (&str, &str),
        since: DateTime<Utc>,
    ) -> Ending {
        let at = (self.host.clock)();
        let attempt = Attempt { since, until: Some(at), touched: self.touched() };
        let last = run.stages[stage].visit.spent + 1 >= run.plan.max_attempts(stage);
        let end = match End::of(outcome, message, last) {
            Some(End::Failed { why }) => {
                let exited = matches!(outcome, Outcome::Exited { .. });
                Some(End::Failed { why: Failure { why, tail: tail.to_owned(), exited }.shown() })
            }
            end => end,
        };
        Ending { attempt, end, at }
    }

    /// The parameters of one of the protocol's skills, to be put before its prompt; for an agent, the point where it
    /// should continue.
    pub(super) fn checkpoint_parameters(&self, run: &Run, stage: usize, session: bool) -> Option<String> {
        let first = run.stages[stage].visit.launches == 1;
        let resume = if session || first { None } else { self.checkpoints.handle.resume_from() };
        let Actor::Skill(actor) = run.plan.actor(stage) else {
            // An agent has no parameters, but is still told where it was.
            let resume = resume.filter(|_| self.checkpoints.key(stage) == Some("EXECUTE"));
            return resume.map(|task| checkpoint::params::resume_from_task(&task));
        };
        let inputs = run.plan.stage_inputs(stage, &|other| run.result(other));
        let inputs = inputs.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let resume = resume.as_deref();
        checkpoint::parameters(actor, inputs, self.checkpoints.handle.place(), &run.run_id, resume)
    }
}
