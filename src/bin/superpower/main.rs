//! `superpower`: the verbs on the command line, without an editor. It calls the engine through `door.rs`; with
//! `drive` it is a project's driver.

mod attach;
mod check;
mod commands;
mod diff;
mod door;
mod drive;
mod driver;
mod follow;
mod manual;
mod options;
mod output;
mod refused;
mod session;
mod settings;
mod sheet;
mod signals;
mod text;
mod trust;
mod verbs;
mod views;
mod words;

use clap::error::ErrorKind;
use output::Output;
use refused::{INTERNAL, Refused};
use session::Session;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use superpower::server::driver as process;

/// The status of what was refused, a wrong command line included.
const REFUSED: u8 = 2;

fn main() -> ExitCode {
    // It becomes a process of its own, which no thread may exist before.
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|verb| verb == "drive") {
        return process::main(&arguments.collect::<Vec<_>>());
    }
    let matches = match commands::program().try_get_matches() {
        Ok(matches) => matches,
        Err(error) => return wrong(&error),
    };
    let Some((name, given)) = matches.subcommand() else { return ExitCode::from(REFUSED) };
    let Some(verb) = verbs::find(name) else { return ExitCode::from(REFUSED) };
    let mut session = match Session::begin(&matches) {
        Ok(session) => session,
        Err(error) => {
            let mut out = Output::default();
            out.say(&format!("cannot start: {error}"));
            return out.status(INTERNAL);
        }
    };
    session.detach = verb.detach && given.get_flag("detach");
    // A fault of ours ends the verb with a line and a status, and the run with a record that it is paused.
    let done = catch_unwind(AssertUnwindSafe(|| {
        (verb.act)(&mut session, words::Given::of(verb, given))
            .unwrap_or_else(|refused| session.refuse(verb.name, &refused))
    }));
    let status = done.unwrap_or_else(|_| {
        let refused = Refused::internal("internal error");
        session.refuse(verb.name, &refused)
    });
    session.end(status)
}

/// Help, the version, or what is wrong with the command line.
fn wrong(error: &clap::Error) -> ExitCode {
    let mut out = Output::default();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            out.raw(error.render().to_string().as_bytes());
            out.status(0)
        }
        ErrorKind::InvalidSubcommand => {
            out.say(&verbs::unknown(error));
            out.status(REFUSED)
        }
        _ => {
            out.said(&error.render().to_string());
            out.status(REFUSED)
        }
    }
}
