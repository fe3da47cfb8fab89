//! Follows a process for its harness: passes it lines, does what it asks for, and signals the driver.

use super::end_text::{exit_words, exited, limit_words, note};
use super::sink::{Order, Sink};
use super::{Actions, End, Ending, Harness, Signal, Stopped};
use crate::outcome::Outcome;
use crate::process::{Event, Exit, Lines, POLITE, Process, Stream, TERM};
use crate::prompt::span;
use std::time::{Duration, Instant};

/// Follows the process to its end. Returns how it ended, and the ending; `None` if the harness wants another start.
pub(super) fn follow(
    process: &mut Process<Order>,
    harness: &mut dyn Harness,
    sink: &mut Sink,
    cap: usize,
    wake: Option<Duration>,
) -> (Exit, Option<Ending>) {
    let lines = || Lines::without(cap, sink.secrets());
    let (mut out, mut err, mut served) = (lines(), lines(), lines());
    let after = |wake: Duration| Instant::now().checked_add(wake);
    let mut wake = wake.and_then(after);
    let mut stopped = None;
    loop {
        process.set_busy(harness.busy());
        let mut to = Actions::default();
        match process.next(wake) {
            Event::Chunk(Stream::Stdout, chunk) => {
                out.push(&chunk, |line| harness.line(&line.text, line.lost, &mut to))
            }
            Event::Chunk(Stream::Served, chunk) => {
                served.push(&chunk, |line| harness.line(&line.text, line.lost, &mut to))
            }
            Event::Chunk(Stream::Stderr, chunk) => {
                err.push(&chunk, |line| harness.error_line(&line.text, &mut to))
            }
            Event::Wake => {
                wake = None;
                harness.woken(&mut to);
            }
            Event::Near(left) => {
                if harness.wrap_up(&wrap_up(left), &mut to) {
                    to.signals.push(note(format!("told the agent to finish: {} left", span(left))));
                }
            }
            Event::Limit(limit) => stop(process, harness, &mut to, &mut stopped, Stopped::Limit(limit)),
            Event::Order(Order::Answer(id, answer)) => harness.answer(&id, &answer, &mut to),
            Event::Order(Order::Submit(_)) => {}
            Event::Order(Order::Stop) => {
                stop(process, harness, &mut to, &mut stopped, Stopped::Asked);
                stopped_by_driver(&mut stopped);
            }
            Event::Order(Order::Kill(grace)) => {
                stopped_by_driver(&mut stopped);
                process.stop(Duration::ZERO, grace);
            }
            Event::Over(exit) => {
                if let Some(signal) =
                    process.stop_signal().filter(|signal| *signal != "TERM" || !harness.is_server())
                {
                    to.signals.push(note(format!("the agent was stopped (SIG{signal})")));
                }
                out.finish(|line| harness.line(&line.text, line.lost, &mut to));
                err.finish(|line| harness.error_line(&line.text, &mut to));
                let ending = harness.end(&End { exit, stopped }, &mut to);
                sink.all(to.signals);
                let left = process.left();
                if !left.is_empty() {
                    sink.send(Signal::Left(left));
                }
                // A driver that stops the launch wants no other start.
                let again = ending.is_none() && !matches!(stopped, Some(Stopped::Asked | Stopped::Limit(_)));
                let ending = ending.unwrap_or_else(|| exited(exit));
                return (exit, (!again).then(|| with_stop_reason(ending, exit, stopped)));
            }
        }
        if to.stop && stopped.is_some() {
            // The harness's own way to stop has finished.
            process.stop(Duration::ZERO, TERM);
        } else if to.stop {
            stop(process, harness, &mut to, &mut stopped, Stopped::Harness);
        }
        if let Some(server) = to.connect {
            process.connect(server);
        }
        for request in std::mem::take(&mut to.requests) {
            process.request(request);
        }
        if !to.write.is_empty() {
            process.write(std::mem::take(&mut to.write));
        }
        if to.close {
            process.close_stdin();
        }
        if let Some(in_a_while) = to.wake {
            wake = after(in_a_while);
        }
        sink.all(to.signals);
    }
}

fn stop(
    process: &mut Process<Order>,
    harness: &mut dyn Harness,
    to: &mut Actions,
    stopped: &mut Option<Stopped>,
    why: Stopped,
) {
    // The first reason counts, and a stop is not started twice.
    if stopped.is_none() {
        *stopped = Some(why);
        let polite = if harness.stop(to) { POLITE } else { Duration::ZERO };
        process.stop(polite, TERM);
    }
}

/// Replaces the harness's own stop, because after a stop by the driver there is no other start.
fn stopped_by_driver(stopped: &mut Option<Stopped>) {
    if matches!(stopped, None | Some(Stopped::Harness)) {
        *stopped = Some(Stopped::Asked);
    }
}

/// What the agent is told when its time is nearly up.
fn wrap_up(left: Duration) -> String {
    format!(
        "Your time is nearly up: this attempt ends in {}. Start nothing new. Leave your work in a usable state and finish now with your report: what is done, and what is missing.",
        span(left)
    )
}

/// Replaces a failure by the limit or the stop that caused it.
fn with_stop_reason(mut ending: Ending, exit: Exit, stopped: Option<Stopped>) -> Ending {
    let failed = matches!(ending.outcome, Outcome::Failed { .. } | Outcome::Exited { .. });
    match stopped {
        Some(Stopped::Limit(limit)) if failed => ending.outcome = Outcome::Failed { why: limit_words(limit) },
        Some(Stopped::Asked) if failed => ending.outcome = Outcome::Failed { why: "stopped".to_owned() },
        _ if exit == Exit::Stuck => ending.outcome = Outcome::Exited { why: exit_words(exit) },
        _ => {}
    }
    ending
}
