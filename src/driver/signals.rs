//! Handles the signals of agents: started, session, progress, questions, ended.

use super::announcement::Announcement;
use super::current_launch::working;
use super::follow_up::Next;
use super::judge::{Expected, judge};
use super::live::Live;
use super::performer::Performer;
use crate::harness::{Ending, Progress, Signal};
use crate::project::expects;
use crate::prompt::{file_glob, head, tail};
use crate::run::event::Event;
use crate::run::state::{Run, Step};
use serde_json::json;
use std::time::SystemTime;

/// Limit of a final message in the journal, in bytes.
const MESSAGE: usize = 32 * 1024;
/// Limit of a failed attempt's output in the journal, in bytes.
const TAIL: usize = 4 * 1024;
/// Limit of a failure reason or a question in the journal, in bytes.
const WHY: usize = 4 * 1024;

impl Performer {
    /// Handles a signal.
    pub(super) fn signal(&mut self, run: &Run, launch: u32, signal: Signal) -> Next {
        let works = working(run, launch);
        match signal {
            Signal::Ended(ending) => return self.ended(run, launch, ending),
            // Also of a launch that is being stopped.
            Signal::Left(processes) => self.left(&processes),
            // Ignore further signals of a launch that is being stopped.
            _ if works.is_none() => {}
            Signal::Started(process) => {
                let harness = works.and_then(|stage| run.stages[stage].launch.as_ref()?.harness.clone());
                if let Some(harness) = harness {
                    return happened(Event::AgentStarted { launch, harness, process });
                }
            }
            Signal::Session(session) => return happened(Event::SessionOpened { launch, session }),
            Signal::Progress(progress) => self.progress(progress),
            Signal::Asked(question) => self.ask(run, launch, question),
            Signal::Withdrawn(id) => self.withdraw(launch, &id),
        }
        Next::Nothing
    }

    /// Reports processes that could not be ended: they may change files while the run continues.
    fn left(&mut self, processes: &[String]) {
        for process in processes {
            self.announcements
                .push(Announcement::Log(format!("LEFT  {process}: still running after SIGKILL")));
            let text = format!("{process} of the agent is still running after SIGKILL");
            self.announcements.push(Announcement::Notice("warn", text));
        }
    }

    fn progress(&mut self, progress: Progress) {
        if let Progress::Note { text } = &progress {
            self.announcements.push(Announcement::Notice("info", text.clone()));
        }
        self.checkpoints.progress(&progress);
        let files = self.live.take(progress);
        if !files.is_empty() {
            self.announce_event(json!({ "type": "files-changed", "paths": files }));
        }
    }

    fn ended(&mut self, run: &Run, launch: u32, ending: Ending) -> Next {
        self.stopping.retain(|agent| agent.launch != launch);
        self.agent.take_if(|agent| agent.launch == launch);
        self.forget_questions(launch);
        let Some(stage) = working(run, launch) else { return Next::Nothing };
        let mut outcome = judge(&ending, &self.expected(run, stage));
        if let Step::Working { since, .. } = run.stages[stage].step {
            let end = self.ending(run, stage, &outcome, (&ending.message, &ending.tail), since);
            self.checkpoints.ended(end);
        }
        if let Some(why) = outcome.text() {
            why.truncate(head(why, WHY).len());
        }
        let message = head(&ending.message, MESSAGE).to_owned();
        let tail = tail(&ending.tail, TAIL).to_owned();
        self.live = Live::default();
        happened(Event::AttemptEnded { launch, outcome, message, tail, usage: ending.usage })
    }

    /// What the stage expects, compared with the disk now.
    fn expected(&self, run: &Run, stage: usize) -> Expected {
        let retry_fail = matches!(self.checkpoints.key(stage), Some("EXECUTE" | "FIX"));
        let Some(expects) = &run.plan.stage(stage).expects else {
            return Expected { retry_fail, ..Expected::default() };
        };
        let since = run.stages[stage].visit.entered_at.map_or(SystemTime::UNIX_EPOCH, SystemTime::from);
        let globs: Vec<String> =
            expects.files.iter().map(|glob| file_glob(run, &glob.value, &globset::escape)).collect();
        Expected {
            declared: true,
            missing: expects::files_written_since(&self.root, &globs, since),
            verdict: expects.verdict.as_ref().map(|verdict| verdict.value.clone()),
            retry_fail,
        }
    }
}

fn happened(event: Event) -> Next {
    Next::Happened(Box::new(event))
}
