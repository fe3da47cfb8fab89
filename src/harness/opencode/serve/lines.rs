//! Handles the server's lines: responses, permission requests, and events.

use super::cut::is_cut;
use super::{Phase, Served};
use crate::harness::Actions;
use crate::harness::end_text::{cut_line, questions};
use crate::harness::events::Unread;
use crate::harness::opencode::events::Meaning;
use crate::harness::opencode::verdict::MAX_CUTS;
use crate::harness::opencode::wire::Line;
use crate::outcome::Outcome;
use crate::prompt::head;

impl Served {
    pub(super) fn event(&mut self, line: &Line<'_>, to: &mut Actions) {
        if let Some(told) = line.superpower.get() {
            if told.lost.count() > 0 {
                to.signals.push(cut_line(told.lost.count()));
            }
            if !told.answer.str().is_empty() {
                self.answered(told, to);
            }
            return;
        }
        match (line.kind.str(), line.properties.get()) {
            ("server.connected", _) if self.phase == Phase::Starting => self.connected(to),
            ("permission.asked" | "question.asked", _) if self.phase == Phase::Stopping => {}
            ("permission.asked", Some(event)) => self.permissions.asked(event, to),
            ("permission.replied", Some(event)) => self.permissions.replied(event.request.str(), to),
            ("question.asked", Some(event)) => {
                self.fail(Outcome::NeedsHuman { question: questions(&event.questions) }, to);
            }
            _ if self.phase != Phase::Starting => {
                let aborted = self.phase == Phase::Stopping && line.kind.str() == "session.error";
                let meaning = if aborted { Meaning::None } else { self.watch.event(line, &mut to.signals) };
                self.handle(meaning, to);
            }
            _ => {}
        }
        if self.watch.reader.cuts >= MAX_CUTS {
            self.fail(Outcome::Transient { why: "the model's stream was cut repeatedly".to_owned() }, to);
        }
    }

    /// Reports an unreadable event; ends the launch if it may have been the final one.
    pub(super) fn unread(&mut self, text: &str, unread: &Unread, to: &mut Actions) {
        let long = is_cut(text);
        self.watch.reader.unread(unread, long, &mut to.signals);
        // Long output of a tool does not matter.
        let decides = !long || head(text, 4096).replace(' ', "").contains(r#""type":"text""#);
        if !decides {
            self.watch.reader.damaged = None;
        } else if let Some(damaged) = self.watch.reader.damaged.clone() {
            self.fail(damaged, to);
        }
    }
}
