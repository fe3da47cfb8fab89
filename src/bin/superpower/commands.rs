//! The table of verbs as the parser of the command line takes it.

use crate::verbs::{VERBS, Verb, Words};
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, Command, ValueHint, value_parser};
use std::path::PathBuf;

pub const NAME: &str = "superpower";

/// What the exit statuses mean.
pub const STATUSES: &str = "\
Exit status: 0 complete, or a decision that took effect; 3 waiting at a gate; 2 refused (the file, an input, trust, another \
driver); 1 anything else.";

/// The whole program.
pub fn program() -> Command {
    let root = Arg::new("root")
        .long("root")
        .value_name("DIR")
        .help("The project; default: the one of the working directory")
        .value_parser(value_parser!(PathBuf))
        .value_hint(ValueHint::DirPath)
        .global(true);
    let json = Arg::new("json")
        .long("json")
        .help("One object for a question; one a line for what takes time")
        .action(ArgAction::SetTrue)
        .global(true);
    // Of the bang, which has this program print what it shows.
    let editor = Arg::new("editor")
        .long("editor")
        .help("Takes the configuration of an editor from standard input")
        .action(ArgAction::SetTrue)
        .hide(true);
    Command::new(NAME)
        .version(env!("CARGO_PKG_VERSION"))
        .about("Multi-stage agent workflows with human gates")
        .after_help(STATUSES)
        .args([root, json, editor])
        .subcommand_help_heading("Verbs")
        .subcommand_value_name("VERB")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .disable_help_subcommand(true)
        .subcommands(VERBS.iter().map(command))
}

fn command(verb: &Verb) -> Command {
    let mut command = Command::new(verb.name).about(verb.about);
    if !verb.usage.is_empty() {
        command = command.override_usage(usage(verb));
    }
    if !verb.more.is_empty() {
        command = command.after_help(verb.more);
    }
    let words = Arg::new("words").num_args(0..).value_name("WORD").hide(true);
    command = match verb.words {
        Words::None => command,
        Words::Free => command.arg(words.value_hint(ValueHint::Other)),
        Words::Files => command.arg(words.value_hint(ValueHint::FilePath)),
        Words::OneOf(all) => {
            let required = !verb.usage.starts_with('[');
            command.arg(words.num_args(1).required(required).value_parser(PossibleValuesParser::new(all)))
        }
    };
    if verb.digest {
        let digest = Arg::new("digest").long("digest").value_name("DIGEST");
        command = command.arg(digest.help("Agrees to what was printed with this digest"));
    }
    if verb.detach {
        let detach = Arg::new("detach").long("detach").action(ArgAction::SetTrue);
        command =
            command.arg(detach.help("Return when the run has started; it goes on without this program"));
    }
    command
}

/// `superpower run [OPTIONS] NAME [key=value …]`
pub fn usage(verb: &Verb) -> String {
    format!("{NAME} {} [OPTIONS] {}", verb.name, verb.usage)
}
