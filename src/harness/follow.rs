//! Follows one process for its harness: feeds it lines, does what it asks for, and tells the driver.

use super::launch::{Order, Sink};
use super::{Actions, End, Ending, Harness, Progress, Signal, Stopped};
use crate::outcome::{Outcome, Usage};
use crate::process::{Event, Exit, Limit, Lines, POLITE, Process, Stream, TERM};
use std::time::{Duration, Instant};

/// Follows the process to its end. `None` where the harness wants another start.
pub(super) fn follow(
    process: &mut Process<Order>,
    harness: &mut dyn Harness,
    sink: &mut Sink,
    cap: usize,
    wake: Option<Duration>,
) -> Option<Ending> {
    let (mut out, mut err) = (Lines::new(cap), Lines::new(cap));
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
            Event::Chunk(Stream::Stderr, chunk) => err.push(&chunk, |line| harness.error_line(&line.text)),
            Event::Wake => {
                wake = None;
                harness.woken(&mut to);
            }
            Event::Limit(limit) => stop(process, harness, &mut to, &mut stopped, Stopped::Limit(limit)),
            Event::Order(Order::Answer(id, answer)) => harness.answer(&id, &answer, &mut to),
            Event::Order(Order::Submit(_)) => {}
            Event::Order(Order::Stop) => stop(process, harness, &mut to, &mut stopped, Stopped::Asked),
            Event::Order(Order::Kill(grace)) => {
                stopped.get_or_insert(Stopped::Asked);
                process.stop(Duration::ZERO, grace);
            }
            Event::Over(exit) => {
                out.finish(|line| harness.line(&line.text, line.lost, &mut to));
                err.finish(|line| harness.error_line(&line.text));
                let ending = harness.end(&End { exit, stopped }, &mut to);
                sink.all(to.signals);
                // Whoever stops it wants no other start.
                let again = ending.is_none() && !matches!(stopped, Some(Stopped::Asked | Stopped::Limit(_)));
                let ending = ending.unwrap_or_else(|| failed(exit_words(exit)));
                return if again { None } else { Some(judged(ending, exit, stopped)) };
            }
        }
        if to.stop {
            stop(process, harness, &mut to, &mut stopped, Stopped::Harness);
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
    // The first reason is the true one; a stop on the way is not begun again.
    if stopped.is_none() {
        *stopped = Some(why);
        let polite = if harness.stop(to) { POLITE } else { Duration::ZERO };
        process.stop(polite, TERM);
    }
}

/// A limit that cut the work short is a failure, whatever the harness made of the rest.
fn judged(mut ending: Ending, exit: Exit, stopped: Option<Stopped>) -> Ending {
    let failed = matches!(ending.outcome, Outcome::Failed { .. });
    match stopped {
        Some(Stopped::Limit(limit)) if failed => ending.outcome = Outcome::Failed { why: limit_words(limit) },
        Some(Stopped::Asked) if failed => ending.outcome = Outcome::Failed { why: "stopped".to_owned() },
        _ if exit == Exit::Stuck => ending.outcome = Outcome::Failed { why: exit_words(exit) },
        _ => {}
    }
    ending
}

/// An ending without any evidence.
pub(super) fn failed(why: String) -> Ending {
    let (message, tail, refusals) = (String::new(), String::new(), Vec::new());
    Ending { outcome: Outcome::Failed { why }, message, usage: Usage::default(), refusals, tail }
}

/// A note for the window.
pub(super) fn note(text: impl Into<String>) -> Signal {
    Signal::Progress(Progress::Note { text: text.into() })
}

pub(super) fn exit_words(exit: Exit) -> String {
    match exit {
        Exit::Code(code) => format!("exit status {code}"),
        Exit::Signal(signal) => format!("killed by signal {signal}{}", signal_name(signal)),
        Exit::Stuck => "it does not end, not even by KILL".to_owned(),
    }
}

fn limit_words(limit: Limit) -> String {
    match limit {
        Limit::Wall(limit) => format!("ran longer than {}", span(limit)),
        Limit::Idle(limit) => format!("silent for {}", span(limit)),
    }
}

fn span(duration: Duration) -> String {
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

fn signal_name(signal: i32) -> &'static str {
    match signal {
        libc::SIGHUP => " (HUP)",
        libc::SIGINT => " (INT)",
        libc::SIGQUIT => " (QUIT)",
        libc::SIGILL => " (ILL)",
        libc::SIGABRT => " (ABRT)",
        libc::SIGFPE => " (FPE)",
        libc::SIGKILL => " (KILL)",
        libc::SIGSEGV => " (SEGV)",
        libc::SIGPIPE => " (PIPE)",
        libc::SIGTERM => " (TERM)",
        _ => "",
    }
}
