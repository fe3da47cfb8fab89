//! The prompt of a launch: the superpower, the stage, its inputs, earlier reports, human comments, previous failures,
//! and what the stage must produce.

use crate::plan::{Actor, one_line};
use crate::run::event::Decision;
use crate::run::state::{Done, Reason, Run, StageState, Step, Stop};
use std::fmt::Write;
use std::time::Duration;

/// Maximum bytes of one earlier stage's report.
const REPORT: usize = 8 * 1024;
/// Maximum bytes and number of earlier reports; the newest are kept.
const REPORTS: usize = 64 * 1024;
const MOST_REPORTS: usize = 100;
/// Maximum bytes of comments made when gates were approved; the newest are kept.
const SAID: usize = 16 * 1024;
/// Maximum bytes of output from a failed attempt.
const TAIL: usize = 4 * 1024;

/// Writes the prompt for the stage's next launch. `resume` is set if it continues the work of an earlier launch;
/// `limit` is its time limit.
pub fn prompt(run: &Run, stage: usize, resume: bool, limit: Option<Duration>) -> String {
    let mut text = String::new();
    let state = &run.stages[stage];
    let plan = &run.plan;
    let actor = plan.actor(stage);
    let what = if matches!(actor, Actor::Skill(_)) { "skill" } else { "agent" };
    let _ =
        writeln!(text, "# {}: stage {} of {}\n\n{}", plan.name(), stage + 1, plan.total(), run.label(stage));
    let _ = writeln!(text, "\nYou are the {what} `{}`.", actor.name());
    begun(&mut text, state, resume);
    inputs(&mut text, run, stage);
    reports(&mut text, run, stage);
    humans(&mut text, run, stage);
    failures(&mut text, run, stage);
    expected(&mut text, run, stage);
    if let Some(limit) = limit {
        let _ = writeln!(
            text,
            "This attempt is stopped after {}. Report what is not done by then as missing.",
            span(limit)
        );
    }
    text
}

/// Says why the last launch stopped, if this one continues its work.
fn begun(text: &mut String, state: &StageState, resume: bool) {
    const CONTINUE: &str = "Look at what is already there and continue; do not start over.";
    let _ = match &state.visit.stopped {
        Some(Stop::Held { reason, why, answered, cut_off }) => {
            let (what, otherwise) = match reason {
                Reason::NeedsHuman => (
                    "with a question, or something that was refused",
                    "You got no answer. Decide what you can yourself.",
                ),
                Reason::Auth => {
                    ("because a login was missing or refused", "A human has resumed the run since.")
                }
                _ => ("because you were blocked", "You were not told what was done about it: check first."),
            };
            let since =
                if *answered { "A human has answered: see what you are asked to do now." } else { otherwise };
            let cut = if *cut_off { " After that you were interrupted." } else { "" };
            writeln!(
                text,
                "\nYour last attempt at this stage stopped {what}:\n\n{}\n\n{since}{cut} {CONTINUE}",
                indent(head(why.trim(), TAIL))
            )
        }
        // In the other cases comments say what to do, and failures say what went wrong.
        _ if !resume || !state.comments.is_empty() => Ok(()),
        Some(Stop::CutOff) => writeln!(text, "\nYou were interrupted during this stage. {CONTINUE}"),
        Some(Stop::Limited { why }) => {
            writeln!(
                text,
                "\nYou were stopped during this stage by a limit, which has passed: {}. {CONTINUE}",
                one_line(why)
            )
        }
        None => writeln!(text, "\nYou started this stage before. {CONTINUE}"),
    };
}

/// A duration, for example `1h 30m`.
pub fn span(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, 0) => format!("{}ms", duration.as_millis()),
        (0, 0, s) => format!("{s}s"),
        (0, m, 0) => format!("{m}m"),
        (0, m, s) => format!("{m}m {s}s"),
        (h, 0, _) => format!("{h}h"),
        (h, m, _) => format!("{h}h {m}m"),
    }
}

fn inputs(text: &mut String, run: &Run, stage: usize) {
    let inputs = run.plan.stage_inputs(stage, &|other| run.result(other));
    if inputs.is_empty() {
        return;
    }
    text.push_str("\n## Inputs\n\n");
    for (name, value) in inputs {
        if value.contains('\n') {
            let _ = writeln!(text, "- {name}:\n\n{}\n", indent(&value));
        } else {
            let _ = writeln!(text, "- {name}: {value}");
        }
    }
}

fn reports(text: &mut String, run: &Run, stage: usize) {
    let mut left = REPORTS;
    let mut parts = Vec::new();
    for &earlier in run.plan.order[..run.plan.rank(stage)].iter().rev() {
        let state = &run.stages[earlier];
        let passed =
            matches!(state.step, Step::Done(Done::Passed | Done::Approved)) && run.plan.has_action(earlier);
        let Some(result) = state.result.as_deref().filter(|result| passed && !result.trim().is_empty())
        else {
            continue;
        };
        let result = head(result, REPORT.min(left));
        left -= result.len();
        parts.push(format!("### Stage {}: {}\n\n{}\n", earlier + 1, run.label(earlier), result.trim_end()));
        if left == 0 || parts.len() == MOST_REPORTS {
            break;
        }
    }
    if !parts.is_empty() {
        parts.reverse();
        let _ = write!(text, "\n## What earlier stages reported\n\n{}", parts.join("\n"));
    }
}

fn humans(text: &mut String, run: &Run, stage: usize) {
    let approvals =
        run.decisions.iter().filter(|it| it.decision == Decision::Approve && !it.comment.trim().is_empty());
    let mut left = SAID;
    let mut said = Vec::new();
    for it in approvals.rev() {
        let line = format!("- at stage {}: {}", it.stage + 1, one_line(&it.comment));
        if line.len() > left && !said.is_empty() {
            break;
        }
        left = left.saturating_sub(line.len());
        said.push(line);
    }
    if !said.is_empty() {
        said.reverse();
        let _ = write!(text, "\n## What the reviewer said when approving\n\n{}\n", said.join("\n"));
    }
    let comments = &run.stages[stage].comments;
    if !comments.is_empty() {
        let _ = write!(text, "\n## What you are asked to do now\n\n{}\n", comments.join("\n\n"));
    }
}

fn failures(text: &mut String, run: &Run, stage: usize) {
    let state = &run.stages[stage];
    let Some(last) = state.visit.failures.last() else { return };
    let count = state.visit.failures.len();
    let times = if count == 1 {
        "The attempt before this one failed".into()
    } else {
        format!("{count} attempts before this one failed, the last")
    };
    let _ = writeln!(
        text,
        "\n## What went wrong before\n\n{times}: {}. What it did may still be there: check first.",
        one_line(&last.why)
    );
    let earlier: Vec<_> = state.visit.failures[..count - 1]
        .iter()
        .map(|failure| format!("- {}", one_line(&failure.why)))
        .collect();
    if !earlier.is_empty() {
        let _ = writeln!(text, "\nEarlier:\n\n{}", earlier.join("\n"));
    }
    let tail = tail(&last.tail, TAIL);
    if !tail.trim().is_empty() {
        let _ = writeln!(text, "\nIts output ended:\n\n{}", indent(tail.trim_end()));
    }
}

fn expected(text: &mut String, run: &Run, stage: usize) {
    text.push_str("\n## What is expected\n\nEnd with a short report in Markdown: what you did, and what the next stage has to know.\n");
    if let Some(expects) = &run.plan.stage(stage).expects {
        for glob in &expects.files {
            let _ = writeln!(
                text,
                "- A file that matches `{}` is written.",
                file_glob(run, &glob.value, &str::to_owned)
            );
        }
        if let Some(verdict) = &expects.verdict {
            let _ = writeln!(
                text,
                "- The report ends with the line `{{\"verdict\": \"{}\"}}` if that is true.",
                verdict.value
            );
        }
    }
    text.push_str("If you cannot continue without a human, end with the line `{\"verdict\": \"BLOCKED\", \"notes\": \"why\"}`.\n");
}

/// The glob of an expected file with its values filled in. `literal` escapes each value, which must match literally.
pub fn file_glob(run: &Run, glob: &str, literal: &dyn Fn(&str) -> String) -> String {
    crate::template::render(glob, &|variable| {
        Some(literal(&run.plan.value(variable, &|other| run.result(other))))
    })
}

fn indent(text: &str) -> String {
    text.lines().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}

/// The first `limit` bytes, cut at a character boundary.
pub fn head(text: &str, limit: usize) -> &str {
    let mut end = limit.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// The last `limit` bytes, cut at a character boundary.
pub fn tail(text: &str, limit: usize) -> &str {
    let mut start = text.len().saturating_sub(limit);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    &text[start..]
}
