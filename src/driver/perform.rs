//! Effects, performed.

use super::lua::Wanted;
use super::{Agent, Drive, Message, gate_review};
use crate::declaration::model::Action;
use crate::harness::{Launch, Missing, Resolved, Task, launch, resolve};
use crate::outcome::{Outcome, Session, Usage};
use crate::plan::ORCHESTRATOR;
use crate::run::effect::{Effect, Notice};
use crate::run::event::Event;
use crate::run::state::{Phase, Step};
use crate::store::rundir;
use serde_json::json;
use std::time::Instant;

/// What a notice says in words of the program's own.
const NOTICE: [&str; 6] = ["type", "outcome", "gate", "decision", "reason", "state"];

impl Drive {
    pub(super) fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Decide { .. } => {}
            // What has come in the same step may have ended it before it began.
            Effect::StartAgent { launch, .. } if self.working(launch).is_none() => {}
            Effect::StartAgent { stage, launch, resume, session } => {
                self.start_agent(stage, launch, resume, session);
            }
            Effect::StopAgent { launch } => {
                self.forget_questions(launch);
                self.asked = None;
                if let Some(agent) = self.agent.take_if(|agent| agent.launch == launch) {
                    agent.running.stop();
                    self.stopping.push(agent);
                    self.checkpoint_interrupted();
                }
                self.live = super::live::Live::default();
            }
            Effect::Wait { stage, until } => self.wait = Some((stage, until)),
            Effect::TakeBaseline => self.take_baseline(),
            Effect::OpenGate { stage, visit } => {
                let since = self.ended.unwrap_or_else(Instant::now);
                let looked = self.looker.compare(gate_review::baseline(&self.run).as_ref(), since);
                let (_, shown) = self.looker.looks().make(&self.dir, &self.run, stage, looked);
                let _ = shown.map(|shown| self.apply(shown.event(stage, visit)));
                // Should the editor be killed right after, what it has shown is on record.
                if let Err(error) = self.journal.write() {
                    self.disk_failed(&error.to_string());
                }
                self.say_what_lapsed();
            }
            Effect::Log(line) => self.log(&line),
            Effect::Say(text) => {
                self.tell(json!({ "type": "notice", "level": "info", "answer": true, "message": text }));
            }
            Effect::Tell(notice) => {
                let stops = matches!(
                    notice,
                    Notice::GateOpened { .. } | Notice::RunPaused { .. } | Notice::RunFinished { .. }
                );
                if stops {
                    // Whoever hears of it and asks for the run, or for all of them, must not be given an older one.
                    self.unwritten = true;
                    self.project();
                    self.publish_snapshot();
                    self.dirty = true;
                }
                self.tell_notice(&notice);
            }
            Effect::Leave => {
                self.wait = None;
                self.leaving = true;
                self.dirty = true;
            }
        }
    }

    pub(super) fn tell_notice(&self, notice: &Notice) {
        let mut event = serde_json::to_value(notice).unwrap_or_default();
        if matches!(notice, Notice::RunStarted) {
            event["inputs"] = json!(self.run.plan.inputs);
        }
        self.host.secrets.mask_message(&mut event, &NOTICE);
        self.tell(event);
    }

    fn start_agent(&mut self, stage: usize, number: u32, resume: bool, session: Option<Session>) {
        self.live = super::live::Live::begin(stage);
        let resolved = match self.resolved(stage) {
            Ok(resolved) => resolved,
            Err(missing) => {
                return self.not_started(number, Outcome::NeedsHuman { question: missing.to_string() });
            }
        };
        if let Err(why) = self.checkpoint_started(stage) {
            return self.not_started(number, Outcome::Blocked { why });
        }
        // A session is of no use to another harness.
        let session = session.filter(|session| session.harness == resolved.name);
        let limit = (resolved.name != "manual").then(|| self.limit(stage));
        let mut prompt = crate::prompt::prompt(&self.run, stage, resume, limit);
        if let Some(parameters) = self.checkpoint_parameters(stage, session.is_some()) {
            prompt.insert_str(0, &format!("{parameters}\n\n"));
        }
        if self.host.config.prompt {
            let run = &self.run;
            let (kind, actor) = run.plan.actor(stage);
            let inputs: std::collections::BTreeMap<String, String> =
                run.plan.stage_inputs(stage, &|other| run.result(other)).into_iter().collect();
            let ctx = json!({
                "root": self.root, "run_id": run.run_id, "superpower": run.plan.name(), "stage": stage + 1,
                "total": run.plan.total(), "label": run.label(stage), "kind": kind, "actor": actor,
                "attempt": run.stages[stage].spent + 1, "inputs": inputs,
            });
            let event = json!({ "type": "ask-prompt", "prompt": prompt, "ctx": ctx });
            return self.ask_lua(Wanted::Prompt { stage, launch: number, session }, event);
        }
        self.dispatch(stage, number, session, prompt);
    }

    /// Launches the stage's agent with this prompt.
    pub(super) fn dispatch(&mut self, stage: usize, number: u32, session: Option<Session>, prompt: String) {
        let resolved = match self.resolved(stage) {
            Ok(resolved) => resolved,
            Err(missing) => {
                return self.not_started(number, Outcome::NeedsHuman { question: missing.to_string() });
            }
        };
        let dir = self.dir.attempt(number, stage);
        let door = self.dir.door();
        let kept = door
            .create_dirs(&dir)
            .and_then(|()| door.replace(&dir.join("prompt.md"), self.host.secrets.mask(&prompt).as_bytes()));
        if let Err(error) = kept {
            return self.disk_failed(&format!("cannot write \"{}\": {error}", dir.display()));
        }
        let task = match self.run.plan.stage(stage).action.as_ref().map(|action| &action.value) {
            Some(Action::Agent(name)) => Task::Agent(name.clone()),
            Some(Action::Skill(name)) => Task::Skill(name.clone()),
            _ => Task::Agent(ORCHESTRATOR.into()),
        };
        let config = &self.host.config;
        let request = Launch {
            run_id: self.run.run_id.clone(),
            stage: stage + 1,
            launch: number,
            task,
            prompt,
            session,
            root: self.root.clone(),
            dir: dir.clone(),
            door,
            timeout: Some(self.limit(stage)),
            idle: Some(config.idle),
            interactive: !config.headless,
        };
        let outbox = self.outbox.clone();
        let told = move |signal| _ = outbox.send(Message::Agent(number, signal));
        self.harness_started(number, &resolved.name);
        // Should the editor be killed right after, what the agent did is not taken for anybody else's doing.
        if let Err(error) = self.journal.write() {
            return self.disk_failed(&error.to_string());
        }
        match launch(&resolved, request, told) {
            Ok(running) => {
                if resolved.name == "manual" {
                    let label = self.run.label(stage);
                    let prompt_path = dir.join("prompt.md");
                    self.tell(json!({
                        "type": "manual", "stage": stage + 1, "launch": number, "label": label, "prompt_path": prompt_path,
                    }));
                }
                self.agent = Some(Agent { launch: number, running, submitted: false });
            }
            Err(error) => self.not_started(number, Outcome::NeedsHuman { question: error.to_string() }),
        }
    }

    /// How long an attempt of a stage may take: its own limit, else the configuration's.
    fn limit(&self, stage: usize) -> std::time::Duration {
        let own = self.run.plan.stage(stage).timeout.as_ref();
        own.map_or(self.host.config.timeout, |timeout| timeout.value)
    }

    /// The harness for a stage: its own, else the run's, else the configuration's.
    fn resolved(&self, stage: usize) -> Result<Resolved, Missing> {
        let own = self.run.plan.stage(stage).harness.as_ref().map(|harness| harness.value.as_str());
        let name = own.or(self.run.harness.as_deref()).unwrap_or(&self.host.config.harness);
        resolve(name, &self.host.harnesses, Some(&self.root))
    }

    /// Remembers which harness a launch is for, before its process is known.
    fn harness_started(&mut self, launch: u32, harness: &str) {
        let _ = self.apply(Event::AgentStarted { launch, harness: harness.to_owned(), process: None });
    }

    /// Nothing was started. A human has to see to that: trying again at once would change nothing.
    fn not_started(&mut self, launch: u32, outcome: Outcome) {
        let _ = self.apply(Event::AttemptEnded {
            launch,
            outcome,
            message: String::new(),
            tail: String::new(),
            usage: Usage::default(),
        });
    }

    /// Remembers the files as they are now. That is on the disk before an agent changes them.
    fn take_baseline(&mut self) {
        if self.run.phase.ended() {
            return;
        }
        let Ok(tree) = self.looker.tree(Instant::now()) else { return };
        let (tree, decisions) = (tree.as_str().to_owned(), self.run.decisions.len());
        let Ok(()) = self.apply(Event::BaselineTaken { tree, decisions }) else { return };
        if let Err(error) = self.journal.flush() {
            self.disk_failed(&error.to_string());
        }
    }

    /// Ends what an earlier drive of this run left behind, and does what that died before.
    pub(super) fn sweep(&mut self) {
        if let Some(text) = self.looker.looks().earlier_place() {
            self.notice("info", &text);
        }
        let Some(records) = self.left_behind.take() else { return self.prune() };
        let taken_anyway = self.pending.contains(&Effect::TakeBaseline);
        if !taken_anyway && gate_review::baseline_is_due(&self.run) {
            self.take_baseline();
        }
        for line in crate::process::sweep(&records, &self.run.run_id) {
            self.notice("warn", &line);
        }
    }

    /// A new run makes room for itself: the oldest finished ones go, and what only they needed.
    fn prune(&self) {
        rundir::prune(&self.root, &self.host.keys, self.host.config.keep_runs, &self.run.run_id);
        self.looker.looks().prune((self.host.clock)());
    }

    /// Whether this stage is working right now, for a launch.
    pub(super) fn working(&self, launch: u32) -> Option<usize> {
        let stage = self.run.current().filter(|_| self.run.phase == Phase::Running)?;
        matches!(self.run.stages[stage].step, Step::Working { launch: current, .. } if current == launch)
            .then_some(stage)
    }
}
