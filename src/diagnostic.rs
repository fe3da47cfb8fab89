//! Diagnostics: problems in a declaration, with code, severity, position and fix.

use crate::source::Span;
use serde::Serialize;

/// Severity of a problem. Only an error keeps a superpower from running.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Error,
    /// Probably a mistake; the run starts anyway.
    Warning,
    /// Information.
    Hint,
}

impl Severity {
    /// The number for `vim.diagnostic.severity`.
    pub const fn number(self) -> u8 {
        match self {
            Severity::Error => 1,
            Severity::Warning => 2,
            Severity::Hint => 4,
        }
    }
}

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $variant:ident $name:literal $severity:ident;)+) => {
        /// The kind of a problem. The names are stable, because users filter by them.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Code { $($(#[doc = $doc])+ $variant,)+ }

        impl Code {
            /// Every code, in the order of the help page.
            pub const ALL: &'static [Code] = &[$(Code::$variant,)+];

            /// The stable name, in kebab-case.
            pub const fn as_str(self) -> &'static str {
                match self { $(Code::$variant => $name,)+ }
            }

            /// The usual severity of a problem of this kind.
            pub const fn severity(self) -> Severity {
                match self { $(Code::$variant => Severity::$severity,)+ }
            }

            /// One sentence for the help page, saying when the problem is reported.
            pub const fn help(self) -> &'static str {
                match self { $(Code::$variant => concat!($($doc),+),)+ }
            }
        }
    };
}

codes! {
    /// The text is not YAML; the rest of the file is still checked as far as it can be.
    YamlSyntax "yaml-syntax" Error;
    /// A mapping has a key twice, or a stage has two inputs that become the same parameter.
    DuplicateKey "duplicate-key" Error;
    /// A required key is missing.
    MissingField "missing-field" Error;
    /// A value has another type than its key takes.
    WrongType "wrong-type" Error;
    /// A name contains characters that are not allowed, or is not the file's stem.
    InvalidName "invalid-name" Error;
    /// The version is neither semver nor its first one or two numbers.
    InvalidVersion "invalid-version" Error;
    /// A timeout, `max_attempts`, `harness` or `expects` is not valid.
    InvalidValue "invalid-value" Error;
    /// The list of stages is empty.
    EmptyStages "empty-stages" Error;
    /// A stage has neither an action nor a gate.
    EmptyStage "empty-stage" Error;
    /// A stage has more than one of `agent`, `skill` and `pipeline`.
    ManyActions "many-actions" Error;
    /// A key is not known at this place.
    UnknownField "unknown-field" Warning;
    /// A key is not allowed here, or looks like a gate but is not one.
    MisplacedField "misplaced-field" Error;
    /// A gate does not exist.
    UnknownGate "unknown-gate" Error;
    /// A pipeline does not exist.
    UnknownPipeline "unknown-pipeline" Error;
    /// An input type does not exist.
    UnknownType "unknown-type" Error;
    /// No agent of this name was found in the places where agents are searched for.
    UnknownAgent "unknown-agent" Warning;
    /// No skill of this name was found in the places where skills are searched for.
    UnknownSkill "unknown-skill" Warning;
    /// A condition cannot be parsed.
    InvalidCondition "invalid-condition" Error;
    /// A fact is neither built in nor registered.
    UnknownCondition "unknown-condition" Error;
    /// Without an editor: a fact is neither built in nor known from a configuration; it may be registered from Lua.
    UncheckedCondition "unchecked-condition" Warning;
    /// An enum input is compared with a value that it can never have.
    ConstantCondition "constant-condition" Warning;
    /// `{{x}}` names no input.
    UndefinedVariable "undefined-variable" Error;
    /// `rework` or `{{stages.X.result}}` names no earlier stage.
    UnknownStage "unknown-stage" Error;
    /// `{{` without `}}`, or without a valid name between them.
    InvalidTemplate "invalid-template" Error;
    /// Two inputs have the same name, or names that become the same parameter.
    DuplicateInput "duplicate-input" Error;
    /// Two stages have the same name.
    DuplicateStage "duplicate-stage" Error;
    /// A default does not have the input's type, or is not in its enum.
    InvalidDefault "invalid-default" Error;
    /// A required input with a default is never asked for.
    RequiredDefault "required-default" Hint;
    /// `depends_on` names a stage that does not exist.
    UnknownDependency "unknown-dependency" Error;
    /// Stages depend on each other in a cycle.
    DependencyCycle "dependency-cycle" Error;
    /// A gate has nothing before it to approve.
    LeadingGate "leading-gate" Hint;
    /// Two files in the same place have the same name.
    DuplicateSuperpower "duplicate-superpower" Warning;
    /// The file is larger than a declaration may be.
    Limit "limit" Error;
}

impl Serialize for Code {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// An edit of the text that fixes a problem.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fix {
    /// The title in the editor, for example `change to "human-approval"`.
    pub title: String,
    /// The edits, which do not overlap.
    pub edits: Vec<Edit>,
}

/// One replacement; an insertion where the span is empty.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Edit {
    pub span: Span,
    pub text: String,
}

/// Another position that is related to the problem.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Related {
    pub span: Span,
    /// For example `first here`.
    pub message: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// Which kind.
    pub code: Code,
    /// How bad.
    pub severity: Severity,
    /// The key or value with the problem.
    pub span: Span,
    /// The path from the root, for example `stages[2].gate`; empty for the whole document.
    pub path: String,
    /// What is wrong and what to write instead, in lower case without a full stop.
    pub message: String,
    /// Related positions, for example the first of two equal keys.
    pub related: Vec<Related>,
    pub fix: Option<Fix>,
}

impl Diagnostic {
    /// A problem with the code's usual severity, without related positions or a fix.
    pub fn new(code: Code, span: Span, path: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: code.severity(),
            span,
            path: path.into(),
            message: message.into(),
            related: Vec::new(),
            fix: None,
        }
    }

    /// Adds a fix with one edit.
    pub fn with_fix(mut self, title: impl Into<String>, span: Span, text: impl Into<String>) -> Self {
        self.fix = Some(Fix { title: title.into(), edits: vec![Edit { span, text: text.into() }] });
        self
    }

    /// Adds a related position.
    pub fn with_related(mut self, span: Span, message: impl Into<String>) -> Self {
        self.related.push(Related { span, message: message.into() });
        self
    }
}
