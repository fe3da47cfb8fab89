//! The manual page and the completion scripts, from the table of verbs.

use crate::commands::{NAME, STATUSES, program, usage};
use crate::refused::Refused;
use crate::session::Session;
use crate::verbs::VERBS;
use crate::words::Given;
use clap_complete::{Shell, generate};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use std::io;

const FILES: &[(&str, &str)] = &[
    (
        "$XDG_CONFIG_HOME/superpower/config.json",
        "options; comments are allowed. What an editor has chosen comes first.",
    ),
    (
        "$XDG_STATE_HOME/superpower/",
        "the key of your runs, your answers about trust, and what editors have chosen.",
    ),
    (".claude/logs/superpower.log", "the log of a project."),
];

pub fn completions(session: &mut Session, mut given: Given) -> Result<u8, Refused> {
    let shell = match given.name().as_deref() {
        Some("bash") => Shell::Bash,
        Some("zsh") => Shell::Zsh,
        Some("fish") => Shell::Fish,
        _ => return Err(Refused::usage("completions takes bash, zsh or fish")),
    };
    let mut script = Vec::new();
    generate(shell, &mut program(), NAME, &mut script);
    session.out.raw(&script);
    Ok(0)
}

pub fn man(session: &mut Session, given: Given) -> Result<u8, Refused> {
    given.nothing_more("man", "no arguments")?;
    let page = page().map_err(|error| Refused::internal(error.to_string()))?;
    session.out.raw(&page);
    Ok(0)
}

fn page() -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    let man = Man::new(program());
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    let mut more = Roff::new();
    more.control("SH", ["VERBS"]);
    for verb in VERBS {
        more.control("TP", []);
        more.text([bold(usage(verb).trim_end())]);
        more.text([roman(format!("{}. {}", verb.about, verb.more).trim_end())]);
    }
    more.control("SH", ["EXIT STATUS"]);
    more.text([roman(STATUSES)]);
    more.control("SH", ["FILES"]);
    for (path, about) in FILES {
        more.control("TP", []);
        more.text([bold(*path)]);
        more.text([roman(*about)]);
    }
    more.to_writer(&mut page)?;
    Ok(page)
}
