//! Checks the superpower's name and version, and the names of agents and skills.

use super::context::{Context, Left};
use crate::declaration::Sink;
use crate::declaration::draft::{ActionKey, Draft, Text, pipeline};
use crate::declaration::scalar::Core;
use crate::declaration::yaml_writer::plain_or_quoted;
use crate::diagnostic::Code;

/// The agent that carries out pipelines.
pub const ORCHESTRATOR: &str = "orchestrator";

/// Explains which names can become the argument of a program.
pub(super) const ARGUMENT: &str = "it becomes an argument of a program, so use only a-z, A-Z, digits and . _ : / -, \
                                   starting with a letter, digit or _";

pub fn check(sink: &mut Sink<'_>, draft: &Draft, context: &Context) {
    if let Some(name) = &draft.name {
        check_name(sink, name, context);
    }
    if let Some(version) = &draft.version {
        check_version(sink, version);
    }
    for (key, text) in draft.stages.iter().flat_map(|stage| &stage.actions) {
        match key {
            ActionKey::Agent => {
                let left = &context.agents_left;
                check_worker(sink, text, "agent", Code::UnknownAgent, context.agents.as_deref(), left)
            }
            ActionKey::Skill => {
                let left = &context.skills_left;
                check_worker(sink, text, "skill", Code::UnknownSkill, context.skills.as_deref(), left)
            }
            ActionKey::Pipeline => check_pipeline(sink, text, context.agents.as_deref()),
        }
    }
}

fn check_name(sink: &mut Sink<'_>, name: &Text, context: &Context) {
    let value = name.value.as_str();
    let stem = context.stem.as_deref();
    if !is_kebab(value) {
        let near = stem.filter(|stem| is_kebab(stem)).map(str::to_owned).or_else(|| kebab(value));
        let report = sink.at(
            Code::InvalidName,
            &name.slot,
            format!("invalid superpower name \"{value}\"; use a-z, digits and \"-\" between them"),
        );
        if let Some(near) = near {
            report.fix(format!("change to \"{near}\""), plain_or_quoted(&near));
        }
    } else if let Some(stem) = stem.filter(|stem| *stem != value) {
        let report = sink.at(
            Code::InvalidName,
            &name.slot,
            format!("the name \"{value}\" does not match the file name \"{stem}\""),
        );
        if is_kebab(stem) {
            report.fix(format!("change to \"{stem}\""), plain_or_quoted(stem));
        }
    }
    if let Some(twin) = &context.twin {
        let message = format!("another file in the same place has this name: {twin}");
        sink.at(Code::DuplicateSuperpower, &name.slot, message);
    }
}

fn check_version(sink: &mut Sink<'_>, version: &Text) {
    let value = version.value.as_str();
    // A number is reported as a wrong type; in quotes it is a version.
    if is_version(value) || version.core != Core::Text {
        return;
    }
    let message = format!("invalid version \"{value}\"; write one to three numbers, such as \"1.0.0\"");
    let report = sink.at(Code::InvalidVersion, &version.slot, message);
    let near = value.trim().trim_start_matches(['v', 'V', '=', '^', '~']).trim();
    if is_version(near) {
        report.fix(format!("change to \"{near}\""), format!("\"{near}\""));
    }
}

/// Semver, or only its first one or two numbers.
fn is_version(text: &str) -> bool {
    let number = |part: &str| {
        part == "0" || !part.starts_with('0') && part.parse::<u64>().is_ok_and(|_| !part.starts_with('+'))
    };
    let short = text.split('.').count() <= 2 && text.split('.').all(number);
    short || semver::Version::parse(text).is_ok()
}

fn check_worker(
    sink: &mut Sink<'_>,
    text: &Text,
    what: &str,
    code: Code,
    known: Option<&[String]>,
    left: &[Left],
) {
    let value = text.value.as_str();
    if !is_argument(value) {
        let message = format!("invalid {what} name \"{value}\": {ARGUMENT}");
        let report = sink.at(Code::InvalidName, &text.slot, message);
        let trimmed = value.trim().trim_start_matches(['@', '/', '$']).trim_end_matches(".md");
        if is_argument(trimmed) {
            report.fix(format!("change to \"{trimmed}\""), plain_or_quoted(trimmed));
        }
        return;
    }
    let Some(known) = known else { return };
    // A name with a namespace belongs to an installed plugin of the agent, whose files are not known here.
    if value.contains(':') || known.iter().any(|name| name == value) {
        return;
    }
    let near = sink.nearest(value, known.iter().map(String::as_str));
    let left: Vec<&str> = left
        .iter()
        .filter(|left| left.name.as_ref().is_none_or(|name| name == value))
        .map(|left| left.message.as_str())
        .take(3)
        .collect();
    let hint = near.map_or_else(
        || match what {
            _ if !left.is_empty() => format!(": {}", left.join("; ")),
            "agent" => format!("; expected .claude/agents/{value}.md"),
            _ => format!("; expected .claude/skills/{value}/SKILL.md"),
        },
        |near| {
            let left = if left.is_empty() { String::new() } else { format!(": {}", left.join("; ")) };
            format!(" (did you mean \"{near}\"?){left}")
        },
    );
    let report = sink.at(code, &text.slot, format!("unknown {what} \"{value}\"{hint}"));
    if let Some(near) = near {
        report.fix(format!("change to \"{near}\""), plain_or_quoted(near));
    }
}

/// Checks that the agent that runs pipelines exists; the declaration does not name it.
fn check_pipeline(sink: &mut Sink<'_>, text: &Text, known: Option<&[String]>) {
    let known = known.unwrap_or(const { &[] });
    if pipeline(&text.value).is_some() && !known.is_empty() && !known.iter().any(|name| name == ORCHESTRATOR)
    {
        let message = format!(
            "the pipeline \"{}\" needs the agent \"{ORCHESTRATOR}\", which was not found",
            text.value
        );
        sink.at(Code::UnknownAgent, &text.slot, message);
    }
}

/// Whether a name can be passed to a program without being read as a flag.
pub fn is_argument(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphanumeric() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || "._:/-".contains(c))
}

pub fn is_kebab(name: &str) -> bool {
    let part =
        |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    name.split('-').all(part)
}

/// Converts a name to kebab-case, if enough of it remains.
pub fn kebab(name: &str) -> Option<String> {
    let mut out = String::new();
    let mut lower = false;
    for c in name.trim().chars() {
        if c.is_ascii_alphanumeric() {
            if c.is_ascii_uppercase() && lower {
                out.push('-');
            }
            lower = c.is_ascii_lowercase();
            out.push(c.to_ascii_lowercase());
        } else {
            lower = false;
            if !out.ends_with('-') && !out.is_empty() {
                out.push('-');
            }
        }
    }
    let out = out.trim_end_matches('-').to_owned();
    (is_kebab(&out) && name.is_ascii()).then_some(out)
}
