//! The table of verbs: parsing, help, completion and the manual page are made from it.

use crate::refused::Refused;
use crate::session::Session;
use crate::words::Given;
use crate::{attach, check, diff, drive, driver, manual, trust, views};
use clap::error::{ContextKind, ContextValue};
use serde_json::{Value, json};
use superpower::suggest::did_you_mean;

/// What completes the words behind a verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Words {
    None,
    Free,
    Files,
    /// One of these.
    OneOf(&'static [&'static str]),
}

pub struct Verb {
    pub name: &'static str,
    /// The words behind it.
    pub usage: &'static str,
    pub words: Words,
    pub about: &'static str,
    /// What else there is to know.
    pub more: &'static str,
    /// Whether it takes `--digest`.
    pub digest: bool,
    /// Whether it takes `--detach`.
    pub detach: bool,
    pub act: fn(&mut Session, Given) -> Result<u8, Refused>,
}

const ANSWER: &str = "answer=… answers in advance what would be asked: old, new, go-on, look-again, adopt, trust or \
                      repair; several with commas between them.";
const RUN: &str =
    "run=ID names the run, of which a start is enough; without it, the only one that the verb fits.";

/// A verb without words of its own.
const PLAIN: Verb = Verb {
    name: "",
    usage: "",
    words: Words::None,
    about: "",
    more: "",
    digest: false,
    detach: false,
    act: |_, _| Ok(0),
};

/// A verb that drives.
const DRIVES: Verb = Verb { words: Words::Free, detach: true, ..PLAIN };

pub const VERBS: &[Verb] = &[
    Verb {
        name: "run",
        usage: "NAME [key=value …] [harness=NAME]",
        about: "Start a superpower",
        more: "Its inputs are given as key=value. It prints the log's lines until the run pauses or ends.",
        act: run,
        ..DRIVES
    },
    Verb {
        name: "resume",
        usage: "[run=ID|NAME|RUN_ID] [key=value …] [answer=…]",
        about: "Continue a paused run",
        more: ANSWER,
        act: resume,
        ..DRIVES
    },
    Verb {
        name: "approve",
        usage: "[run=ID] [review=ID] [answer=…] [comment]",
        about: "Approve the gate that waits",
        more: "review=ID names the list of changes that the approval is for; default: the one that was printed last.",
        act: |session, given| decide(session, "approve", given),
        ..DRIVES
    },
    Verb {
        name: "changes",
        usage: "[run=ID] [review=ID] comment",
        about: "Request changes at the gate that waits",
        more: RUN,
        act: |session, given| decide(session, "changes", given),
        ..DRIVES
    },
    Verb {
        name: "reject",
        usage: "[run=ID] [review=ID] [comment]",
        words: Words::Free,
        about: "Reject the run at the gate that waits",
        more: RUN,
        act: |session, given| decide(session, "reject", given),
        ..PLAIN
    },
    Verb {
        name: "retry",
        usage: "[run=ID] [answer=…] [comment]",
        about: "Try the stage again, with a comment or an answer for its agent",
        more: RUN,
        act: retry,
        ..DRIVES
    },
    Verb {
        name: "skip",
        usage: "[run=ID] [answer=…]",
        about: "Skip the action of a stage that failed, asks, or is manual; its own gate still asks",
        more: RUN,
        act: |session, given| plain(session, "skip", given),
        ..DRIVES
    },
    Verb {
        name: "pause",
        usage: "[run=ID]",
        words: Words::Free,
        about: "Pause at the next boundary",
        more: RUN,
        act: |session, given| plain(session, "pause", given),
        ..PLAIN
    },
    Verb {
        name: "cancel",
        usage: "[run=ID]",
        words: Words::Free,
        about: "End the run, its agent and all that it started",
        more: RUN,
        act: |session, given| plain(session, "cancel", given),
        ..PLAIN
    },
    Verb {
        name: "attach",
        usage: "[run=ID]",
        words: Words::Free,
        about: "Show the lines of a run that is driven elsewhere, until it pauses or ends",
        more: "An interruption (INT, TERM, HUP) leaves the run alone. Of a run that nobody drives it says how it stands.",
        act: attach::attach,
        ..PLAIN
    },
    Verb {
        name: "status",
        usage: "[run=ID]",
        words: Words::Free,
        about: "Where the project's run is, stage by stage",
        act: views::status,
        ..PLAIN
    },
    Verb { name: "runs", about: "The runs of this project, newest first", act: views::runs, ..PLAIN },
    Verb { name: "list", about: "The superpowers of this project", act: views::list, ..PLAIN },
    Verb {
        name: "plan",
        usage: "NAME [key=value …]",
        words: Words::Free,
        about: "What would run, skip and ask, and why; starts nothing",
        act: views::plan,
        ..PLAIN
    },
    Verb {
        name: "check",
        usage: "[NAME|FILE …]",
        words: Words::Files,
        about: "Check superpower files",
        more: "Prints file:line:column: severity: message [code]. The exit status is 1 if there is an error. A word that \
               ends in .yaml or .yml is a file; without words, every superpower of the project is checked.",
        act: check::check,
        ..PLAIN
    },
    Verb {
        name: "why",
        usage: "[run=ID] [STAGE]",
        words: Words::Free,
        about: "Why a stage runs or is skipped",
        act: views::why,
        ..PLAIN
    },
    Verb {
        name: "log",
        usage: "[run=ID]",
        words: Words::Free,
        about: "The log of a run",
        act: views::log,
        ..PLAIN
    },
    Verb {
        name: "diff",
        usage: "[run=ID] [FILE …]",
        words: Words::Files,
        about: "What changed since the last approval, at an open gate; with files, how",
        act: diff::diff,
        ..PLAIN
    },
    Verb {
        name: "trust",
        usage: "NAME|ID [harness=NAME]",
        words: Words::Free,
        about: "Show what a superpower or a run will do, and agree to it",
        more: "Asks at a terminal; elsewhere --digest agrees to what was printed with that digest.",
        digest: true,
        act: trust::trust,
        ..PLAIN
    },
    Verb {
        name: "driver",
        usage: "[end]",
        words: Words::OneOf(&["end"]),
        about: "List the processes that drive runs, or end that of this project",
        more: "With end, what it drives is interrupted.",
        act: driver::driver,
        ..PLAIN
    },
    Verb { name: "schema", about: "The JSON Schema of superpower files", act: views::schema, ..PLAIN },
    Verb {
        name: "completions",
        usage: "bash|zsh|fish",
        words: Words::OneOf(&["bash", "zsh", "fish"]),
        about: "A completion script for a shell",
        act: manual::completions,
        ..PLAIN
    },
    Verb { name: "man", about: "The manual page, as roff", act: manual::man, ..PLAIN },
];

pub fn find(name: &str) -> Option<&'static Verb> {
    VERBS.iter().find(|verb| verb.name == name)
}

/// What to say of a verb that does not exist.
pub fn unknown(error: &clap::Error) -> String {
    let name = match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(name)) => name.as_str(),
        _ => "",
    };
    let names: Vec<&str> = VERBS.iter().map(|verb| verb.name).collect();
    let hint = did_you_mean(name, names.iter().copied());
    if hint.is_empty() {
        return format!("unknown verb \"{name}\"; known: {}", names.join(", "));
    }
    format!("unknown verb \"{name}\"{hint}")
}

fn run(session: &mut Session, mut given: Given) -> Result<u8, Refused> {
    let Some(name) = given.name() else {
        return Err(Refused::usage("name a superpower before its inputs: superpower run NAME key=value"));
    };
    let mut inputs = given.pairs()?;
    let harness = inputs.shift_remove("harness");
    drive::drive(session, "run", "run", json!({ "name": name, "inputs": inputs, "harness": harness }))
}

fn resume(session: &mut Session, mut given: Given) -> Result<u8, Refused> {
    let run_id = given.run_id()?;
    let which = given.name();
    if let (Some(which), Some(_)) = (&which, &run_id) {
        return Err(Refused::usage(format!("resume takes one run, got also \"{which}\"")));
    }
    let mut inputs = given.pairs()?;
    let mut fields = json!({ "which": which, "run_id": run_id });
    if let Some(answer) = inputs.shift_remove("answer") {
        fields["answer"] = answer;
    }
    fields["inputs"] = Value::Object(inputs);
    drive::drive(session, "resume", "resume", fields)
}

fn decide(session: &mut Session, decision: &str, mut given: Given) -> Result<u8, Refused> {
    let run_id = given.run_id()?;
    let mut review = given.review();
    let mut fields = json!({ "decision": decision, "run_id": run_id });
    if decision == "approve"
        && let Some(answer) = given.answer()
    {
        fields["answer"] = json!(answer);
        review = review.or_else(|| given.review());
    }
    fields["review"] = json!(review);
    match given.comment() {
        Some(comment) => fields["comment"] = json!(comment),
        None if decision == "changes" => {
            return Err(Refused::usage("say what should change: superpower changes COMMENT"));
        }
        None => {}
    }
    drive::drive(session, decision, "decide", fields)
}

fn retry(session: &mut Session, mut given: Given) -> Result<u8, Refused> {
    let mut fields = json!({ "run_id": given.run_id()? });
    if let Some(answer) = given.answer() {
        fields["answer"] = json!(answer);
    }
    if let Some(comment) = given.comment() {
        fields["comment"] = json!(comment);
    }
    drive::drive(session, "retry", "retry", fields)
}

/// A verb that takes its run alone.
fn plain(session: &mut Session, verb: &str, mut given: Given) -> Result<u8, Refused> {
    let mut fields = json!({ "run_id": given.run_id()? });
    if verb == "skip"
        && let Some(answer) = given.answer()
    {
        fields["answer"] = json!(answer);
    }
    given.nothing_more(verb, "only run=ID")?;
    drive::drive(session, verb, verb, fields)
}
