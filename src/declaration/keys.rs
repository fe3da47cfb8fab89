//! The table of all keys of a declaration. The decoder, completion, hover, the help page and the schema use it.

use super::scalar::Core;

/// The mapping that a key belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    Top,
    /// In an item of `inputs`.
    Input,
    /// In an item of `stages`.
    Stage,
    /// In a stage's `expects`.
    Expects,
}

impl Level {
    /// Every level, outermost first.
    pub const ALL: [Level; 4] = [Level::Top, Level::Input, Level::Stage, Level::Expects];

    /// The name of such a mapping in messages.
    pub const fn called(self) -> &'static str {
        match self {
            Level::Top => "a superpower",
            Level::Input => "an input",
            Level::Stage => "a stage",
            Level::Expects => "\"expects\"",
        }
    }

    pub fn keys(self) -> impl Iterator<Item = &'static Key> {
        KEYS.iter().filter(move |key| key.level == self)
    }

    pub fn key(self, name: &str) -> Option<&'static Key> {
        self.keys().find(|key| key.name == name)
    }
}

/// The type of a key's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// A free text.
    Prose,
    Name,
    Version,
    Texts,
    /// `true` or `false`.
    Bool,
    /// A whole number from 1.
    Count,
    /// A time such as `30m`.
    Duration,
    /// One of a fixed list of words, each with a help text.
    Word(&'static [(&'static str, &'static str)]),
    Agent,
    Skill,
    Harness,
    Condition,
    /// The name or number of an earlier stage.
    Stage,
    Stages,
    /// A scalar of any type.
    Value,
    /// A mapping of names to scalars.
    Values,
    /// A list of mappings of this level.
    List(Level),
    /// A mapping of this level.
    Mapping(Level),
}

impl Takes {
    /// The type in messages, with its article.
    pub const fn called(self) -> &'static str {
        match self {
            Takes::Prose | Takes::Version => "a text",
            Takes::Name | Takes::Agent | Takes::Skill | Takes::Harness | Takes::Stage => "a name",
            Takes::Texts => "a list of texts",
            Takes::Bool => "true or false",
            Takes::Count => "a whole number from 1",
            Takes::Duration => "a time such as 30m",
            Takes::Word(_) => "a word",
            Takes::Condition => "a condition",
            Takes::Stages => "a list of stages' names",
            Takes::Value => "a single value",
            Takes::Values => "a mapping of names to single values",
            Takes::List(Level::Input) => "a list of inputs",
            Takes::List(_) => "a list of stages",
            Takes::Mapping(_) => "a mapping",
        }
    }
}

/// A known key.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    pub level: Level,
    pub name: &'static str,
    pub takes: Takes,
    pub required: bool,
    /// Help text of one or two sentences.
    pub help: &'static str,
}

/// The gates with their help texts.
pub const GATES: &[(&str, &str)] = &[
    ("human-approval", "the run waits here until a human approves, asks for changes or rejects"),
    ("auto", "never waits"),
];

/// The pipelines with their help texts.
pub const PIPELINES: &[(&str, &str)] = &[
    ("standard-8-phase", "the agent `orchestrator`, with the input `mode` set to `standard-8-phase`"),
    ("standard", "the same as `standard-8-phase`"),
];

/// The types of an input with their help texts.
pub const TYPES: &[(&str, &str)] =
    &[("string", "any text"), ("bool", "`true` or `false`"), ("enum", "one of the values in `enum`")];

/// The built-in harnesses.
pub const HARNESSES: &[(&str, &str)] = &[
    ("claude", "Claude Code"),
    ("opencode", "OpenCode"),
    ("codex", "Codex"),
    ("gemini", "Gemini CLI"),
    ("command", "a program of your own"),
    ("manual", "no program: the prompt opens in a buffer and you do the work"),
];

const fn key(level: Level, name: &'static str, takes: Takes, required: bool, help: &'static str) -> Key {
    Key { level, name, takes, required, help }
}

/// Every key, in the order in which they are usually written.
pub const KEYS: &[Key] = &[
    key(
        Level::Top,
        "name",
        Takes::Name,
        true,
        "The superpower's name: kebab-case, and the stem of its file.",
    ),
    key(Level::Top, "description", Takes::Prose, true, "One line, shown where a superpower is picked."),
    key(
        Level::Top,
        "version",
        Takes::Version,
        true,
        "The version, as a text in quotes: semver, or its first one or two numbers.",
    ),
    key(Level::Top, "tags", Takes::Texts, false, "Free words for finding it."),
    key(Level::Top, "inputs", Takes::List(Level::Input), false, "What a run asks for before it starts."),
    key(
        Level::Top,
        "stages",
        Takes::List(Level::Stage),
        true,
        "What a run does, in order; at least one stage.",
    ),
    key(
        Level::Input,
        "name",
        Takes::Name,
        true,
        "The input's name, by which `{{name}}` stands for its value: letters, digits, `_` and `-`, not a digit first.",
    ),
    key(
        Level::Input,
        "type",
        Takes::Word(TYPES),
        false,
        "What values it takes: `string` (the default), `bool` or `enum`.",
    ),
    key(
        Level::Input,
        "required",
        Takes::Bool,
        false,
        "Whether a run that was not given it asks for it before anything starts. Default: `false`.",
    ),
    key(Level::Input, "description", Takes::Prose, false, "What it is for; shown where it is asked for."),
    key(Level::Input, "default", Takes::Value, false, "The value where none is given; of the input's type."),
    key(Level::Input, "enum", Takes::Texts, false, "The values there are, for the type `enum`."),
    key(
        Level::Stage,
        "name",
        Takes::Name,
        false,
        "The stage's id, kebab-case and unique, for `depends_on`, `rework` and `{{stages.NAME.result}}`.",
    ),
    key(
        Level::Stage,
        "agent",
        Takes::Agent,
        false,
        "The agent that does the work. At most one of agent, skill and pipeline.",
    ),
    key(
        Level::Stage,
        "skill",
        Takes::Skill,
        false,
        "The skill that does the work. At most one of agent, skill and pipeline.",
    ),
    key(
        Level::Stage,
        "pipeline",
        Takes::Word(PIPELINES),
        false,
        "The pipeline that does the work. At most one of agent, skill and pipeline.",
    ),
    key(
        Level::Stage,
        "description",
        Takes::Prose,
        false,
        "The stage's label; default: made from its action. `{{input}}` stands for a value.",
    ),
    key(
        Level::Stage,
        "when",
        Takes::Condition,
        false,
        "The stage is skipped where this is false: facts and comparisons such as `{{scope}} == full`. Default: `always`.",
    ),
    key(
        Level::Stage,
        "inputs",
        Takes::Values,
        false,
        "Inputs of this stage's own, over those of the run. `{{input}}` and `{{stages.NAME.result}}` stand for values.",
    ),
    key(Level::Stage, "depends_on", Takes::Stages, false, "The names of stages that come before this one."),
    key(
        Level::Stage,
        "gate",
        Takes::Word(GATES),
        false,
        "`human-approval` waits for a human, after the stage's action if it has one; `auto` never waits.",
    ),
    key(
        Level::Stage,
        "rework",
        Takes::Stage,
        false,
        "The earlier stage where \"request changes\" at this gate goes back to. Default: this stage's action, else the \
         nearest one before that ran.",
    ),
    key(
        Level::Stage,
        "harness",
        Takes::Harness,
        false,
        "The harness that reaches the agent. Default: the run's.",
    ),
    key(
        Level::Stage,
        "timeout",
        Takes::Duration,
        false,
        "The wall clock of one attempt: a number with `s`, `m` or `h`. Default: from the configuration.",
    ),
    key(
        Level::Stage,
        "max_attempts",
        Takes::Count,
        false,
        "How often the stage is tried before the run pauses. Default: 3.",
    ),
    key(
        Level::Stage,
        "expects",
        Takes::Mapping(Level::Expects),
        false,
        "What must be true after an attempt, or it fails.",
    ),
    key(
        Level::Expects,
        "files",
        Takes::Texts,
        false,
        "Files, or globs, inside the project; each must exist and have been written since this visit of the stage began.",
    ),
    key(
        Level::Expects,
        "verdict",
        Takes::Name,
        false,
        "The verdict that the final message must end with, such as `PASS`.",
    ),
];

/// Common words for a key that has another name here.
const OTHER_WORDS: &[(&str, &str)] = &[
    ("if", "when"),
    ("condition", "when"),
    ("needs", "depends_on"),
    ("requires", "depends_on"),
    ("after", "depends_on"),
    ("depends", "depends_on"),
    ("id", "name"),
    ("title", "description"),
    ("label", "description"),
    ("with", "inputs"),
    ("args", "inputs"),
    ("params", "inputs"),
    ("parameters", "inputs"),
    ("variables", "inputs"),
    ("steps", "stages"),
    ("phases", "stages"),
    ("retries", "max_attempts"),
    ("attempts", "max_attempts"),
    ("options", "enum"),
    ("values", "enum"),
    ("choices", "enum"),
    ("outputs", "expects"),
    ("backend", "harness"),
    ("provider", "harness"),
];

/// The key of `level` that `name` probably means.
pub fn nearest_key(level: Level, name: &str) -> Option<&'static str> {
    let lower = name.to_lowercase().replace('-', "_");
    OTHER_WORDS
        .iter()
        .find(|(word, _)| *word == lower)
        .and_then(|(_, meant)| level.key(meant))
        .map(|key| key.name)
        .or_else(|| crate::suggest::nearest(name, level.keys().map(|key| key.name)))
}

/// Whether a key is reserved for users (`x-…`).
pub fn is_free(name: &str) -> bool {
    name.starts_with("x-")
}

/// Whether an unknown key looks as if it should make the run wait for a human.
pub fn looks_like_gate(name: &str) -> bool {
    let mut words = String::new();
    for c in name.chars() {
        if c.is_uppercase() {
            words.push(' ');
        }
        words.extend(if c.is_alphanumeric() { Some(c.to_ascii_lowercase()) } else { Some(' ') });
    }
    let gate = |word: &str| {
        matches!(word, "gate" | "gates" | "gated" | "signoff" | "humangate" | "humanapproval")
            || word.starts_with("approv")
    };
    words.split(' ').any(gate) || words.contains("sign off") || words.contains("human in the loop")
}

/// Whether a scalar of this type fits the key. The text itself is not checked.
pub fn fits(takes: Takes, core: Core) -> bool {
    match takes {
        Takes::Bool => matches!(core, Core::Bool(_)),
        Takes::Count => core == Core::Int,
        Takes::Value => core != Core::Null,
        Takes::Stage => matches!(core, Core::Text | Core::Int),
        // Any other type is not one of the words, and the rule for words reports it.
        Takes::Word(_) => core != Core::Null,
        _ => core == Core::Text,
    }
}
