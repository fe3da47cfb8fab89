//! Starts an agent for a launch: builds its prompt and the harness's request, and starts the process.

use super::Message;
use super::announcement::Announcement;
use super::current_launch::working;
use super::follow_up::{Dispatch, Next, not_started};
use super::live::Live;
use super::lua_question::Subject;
use super::performer::{Agent, Performer};
use crate::declaration::model::Action;
use crate::harness::{Launch, Missing, Resolved, Task, launch, resolve};
use crate::outcome::{Harness, Outcome, Session};
use crate::plan::ORCHESTRATOR;
use crate::run::event::Event;
use crate::run::state::Run;
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;

/// Everything that is needed to start an agent.
pub(super) struct PreparedLaunch {
    resolved: Resolved,
    request: Launch,
    stage: usize,
}

/// The result of preparing a launch.
pub(super) enum Prepared {
    Ready(Box<PreparedLaunch>),
    Not(Next),
}

impl PreparedLaunch {
    pub(super) fn harness(&self) -> Harness {
        self.resolved.harness()
    }
}

impl Performer {
    /// Starts a launch: its checkpoint, and its prompt, for which Lua may be asked.
    pub(super) fn start(
        &mut self,
        run: &Run,
        stage: usize,
        launch: u32,
        resume: bool,
        session: Option<Session>,
    ) -> Next {
        if working(run, launch).is_none() {
            // Another event of the same step has already ended it.
            return Next::Nothing;
        }
        self.live = Live::begin(stage);
        self.stamp();
        let resolved = match self.resolved(run, stage) {
            Ok(resolved) => resolved,
            Err(missing) => return needs_human(launch, missing.to_string()),
        };
        if let Err(why) = self.checkpoint_started(run, stage) {
            return Next::Happened(Box::new(not_started(launch, Outcome::Blocked { why })));
        }
        // Another harness cannot use the session.
        let session = session.filter(|session| session.harness == resolved.name);
        let limit = (resolved.harness() != Harness::Manual).then(|| self.limit(run, stage));
        let mut prompt = crate::prompt::prompt(run, stage, resume, limit);
        if let Some(parameters) = self.checkpoint_parameters(run, stage, session.is_some()) {
            prompt.insert_str(0, &format!("{parameters}\n\n"));
        }
        if !self.host.config.prompt {
            return Next::Dispatch(Dispatch { stage, launch, session, prompt });
        }
        let actor = run.plan.actor(stage);
        let inputs: BTreeMap<String, String> =
            run.plan.stage_inputs(stage, &|other| run.result(other)).into_iter().collect();
        let ctx = json!({
            "root": self.root, "run_id": run.run_id, "superpower": run.plan.name(), "stage": stage + 1,
            "total": run.plan.total(), "label": run.label(stage), "kind": actor.kind(), "actor": actor.name(),
            "attempt": run.stages[stage].visit.spent + 1, "inputs": inputs,
        });
        let event = json!({ "type": "ask-prompt", "prompt": prompt, "ctx": ctx });
        self.ask_lua(run, Subject::Prompt { stage, launch, session }, event)
    }

    /// Saves the agent's prompt and returns what is needed to start it.
    pub(super) fn prepare(&self, run: &Run, dispatch: Dispatch) -> Prepared {
        let Dispatch { stage, launch, session, prompt } = dispatch;
        if working(run, launch) != Some(stage) {
            // The launch is no longer wanted.
            return Prepared::Not(Next::Nothing);
        }
        let resolved = match self.resolved(run, stage) {
            Ok(resolved) => resolved,
            Err(missing) => return Prepared::Not(needs_human(launch, missing.to_string())),
        };
        let dir = self.dir.attempt(launch, stage);
        let door = self.dir.door();
        let kept = door
            .create_dirs(&dir)
            .and_then(|()| door.replace(&dir.join("prompt.md"), self.host.secrets.mask(&prompt).as_bytes()));
        if let Err(error) = kept {
            return Prepared::Not(Next::Failed(format!("cannot write \"{}\": {error}", dir.display())));
        }
        let task = match run.plan.stage(stage).action.as_ref().map(|action| &action.value) {
            Some(Action::Agent(name)) => Task::Agent(name.clone()),
            Some(Action::Skill(name)) => Task::Skill(name.clone()),
            _ => Task::Agent(ORCHESTRATOR.into()),
        };
        let config = &self.host.config;
        let request = Launch {
            run_id: run.run_id.clone(),
            stage: stage + 1,
            launch,
            task,
            prompt,
            session,
            root: self.root.clone(),
            dir,
            door,
            timeout: Some(self.limit(run, stage)),
            idle: Some(config.idle),
            interactive: !config.headless,
        };
        Prepared::Ready(Box::new(PreparedLaunch { resolved, request, stage }))
    }

    /// Starts the agent. The error is for the user.
    pub(super) fn launch(&mut self, run: &Run, prepared: PreparedLaunch) -> Result<(), String> {
        let PreparedLaunch { resolved, request, stage } = prepared;
        let (number, dir, outbox) = (request.launch, request.dir.clone(), self.outbox.clone());
        let send = move |signal| _ = outbox.send(Message::Agent(number, signal));
        let running = launch(&resolved, request, send).map_err(|error| error.to_string())?;
        if resolved.harness() == Harness::Manual {
            let label = run.label(stage);
            let prompt_path = dir.join("prompt.md");
            let question = json!({
                "type": "manual", "stage": stage + 1, "launch": number, "label": &label, "prompt_path": prompt_path,
            });
            self.announce(Announcement::Question(self.manual_id(number), question));
            self.announce(Announcement::Asks(stage + 1, format!("is done by hand: {label}")));
        }
        self.agent = Some(Agent::new(number, running));
        Ok(())
    }

    /// The time limit of an attempt: the stage's own, or else the configuration's.
    fn limit(&self, run: &Run, stage: usize) -> Duration {
        let own = run.plan.stage(stage).timeout.as_ref();
        own.map_or(self.host.config.timeout, |timeout| timeout.value)
    }

    /// The harness of a stage: its own, else the run's, else the configuration's.
    fn resolved(&self, run: &Run, stage: usize) -> Result<Resolved, Missing> {
        let own = run.plan.stage(stage).harness.as_ref().map(|harness| harness.value.as_str());
        let name = own.or(run.harness.as_deref()).unwrap_or(&self.host.config.harness);
        resolve(name, &self.host.harnesses, Some(&self.root))
    }
}

fn needs_human(launch: u32, question: String) -> Next {
    let event: Event = not_started(launch, Outcome::NeedsHuman { question });
    Next::Happened(Box::new(event))
}
