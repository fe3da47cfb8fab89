//! A fault in a declaration, as data: what, how bad, where, and what would mend it.

use crate::source::Span;
use serde::Serialize;

/// How bad a fault is. Only an error keeps a superpower from running.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The run is refused.
    Error,
    /// Likely a mistake; the run goes on.
    Warning,
    /// Worth knowing.
    Hint,
}

impl Severity {
    /// The number `vim.diagnostic.severity` has for it.
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
        /// What kind of fault it is. The names are stable: users filter by them.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Code { $($(#[doc = $doc])+ $variant,)+ }

        impl Code {
            /// Every code, in the order of the help page.
            pub const ALL: &'static [Code] = &[$(Code::$variant,)+];

            /// The stable name, in kebab-case.
            pub const fn as_str(self) -> &'static str {
                match self { $(Code::$variant => $name,)+ }
            }

            /// How bad a fault of this kind is.
            pub const fn severity(self) -> Severity {
                match self { $(Code::$variant => Severity::$severity,)+ }
            }

            /// One sentence for the help page: when it is reported.
            pub const fn help(self) -> &'static str {
                match self { $(Code::$variant => concat!($($doc),+),)+ }
            }
        }
    };
}

codes! {
    /// The text is not YAML; the rest of the file is still checked as far as it can be.
    YamlSyntax "yaml-syntax" Error;
    /// A mapping has a key twice, or a stage two inputs that become the same parameter.
    DuplicateKey "duplicate-key" Error;
    /// A required key is not there.
    MissingField "missing-field" Error;
    /// A value is of another type than its key takes.
    WrongType "wrong-type" Error;
    /// A name is not what names are made of, or not the file's stem.
    InvalidName "invalid-name" Error;
    /// The version is neither semver nor its first one or two numbers.
    InvalidVersion "invalid-version" Error;
    /// A timeout, `max_attempts`, `harness` or `expects` that cannot be.
    InvalidValue "invalid-value" Error;
    /// There are no stages.
    EmptyStages "empty-stages" Error;
    /// A stage has neither an action nor a gate.
    EmptyStage "empty-stage" Error;
    /// A stage has more than one of `agent`, `skill` and `pipeline`.
    ManyActions "many-actions" Error;
    /// A key that means nothing here.
    UnknownField "unknown-field" Warning;
    /// A key that cannot stand here, or that looks like a gate and is none.
    MisplacedField "misplaced-field" Error;
    /// A gate that does not exist.
    UnknownGate "unknown-gate" Error;
    /// A pipeline that does not exist.
    UnknownPipeline "unknown-pipeline" Error;
    /// An input type that does not exist.
    UnknownType "unknown-type" Error;
    /// No agent of this name in the places where agents are looked for.
    UnknownAgent "unknown-agent" Warning;
    /// No skill of this name in the places where skills are looked for.
    UnknownSkill "unknown-skill" Warning;
    /// A condition that does not parse.
    InvalidCondition "invalid-condition" Error;
    /// A fact that nobody provides.
    UnknownCondition "unknown-condition" Error;
    /// An enum input is compared with a value that it can never have.
    ConstantCondition "constant-condition" Warning;
    /// `{{x}}` names no input.
    UndefinedVariable "undefined-variable" Error;
    /// `rework` or `{{stages.X.result}}` names no earlier stage.
    UnknownStage "unknown-stage" Error;
    /// `{{` without `}}`, or with something else than a name between them.
    InvalidTemplate "invalid-template" Error;
    /// Two inputs of one name, or of names that become the same parameter.
    DuplicateInput "duplicate-input" Error;
    /// Two stages of one name.
    DuplicateStage "duplicate-stage" Error;
    /// A default that is not of the input's type, or not in its enum.
    InvalidDefault "invalid-default" Error;
    /// A required input with a default is never asked for.
    RequiredDefault "required-default" Hint;
    /// `depends_on` names no stage.
    UnknownDependency "unknown-dependency" Error;
    /// Stages that depend on each other in a circle.
    DependencyCycle "dependency-cycle" Error;
    /// A gate with nothing before it to approve.
    LeadingGate "leading-gate" Hint;
    /// Two files of one name in the same place.
    DuplicateSuperpower "duplicate-superpower" Warning;
    /// Larger than a declaration may be.
    Limit "limit" Error;
}

impl Serialize for Code {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// A change of the text that mends a fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fix {
    /// What the editor offers, e.g. `change to "human-approval"`.
    pub title: String,
    /// The edits, which do not overlap.
    pub edits: Vec<Edit>,
}

/// One replacement; an insertion where the span is empty.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Edit {
    /// What is replaced.
    pub span: Span,
    /// By what.
    pub text: String,
}

/// Another place that has to do with the fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Related {
    /// Where.
    pub span: Span,
    /// What is there, e.g. `first here`.
    pub message: String,
}

/// A fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// Which kind.
    pub code: Code,
    /// How bad.
    pub severity: Severity,
    /// The exact key or value that it is about.
    pub span: Span,
    /// The way to it from the top, e.g. `stages[2].gate`; empty for the whole document.
    pub path: String,
    /// What is wrong and what to write instead: lower case, no full stop.
    pub message: String,
    /// Other places, e.g. the first of two equal keys.
    pub related: Vec<Related>,
    /// The mend, where there is one.
    pub fix: Option<Fix>,
}

impl Diagnostic {
    /// A fault of the code's own severity, without related places and fix.
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

    /// The same with a fix of one edit.
    pub fn with_fix(mut self, title: impl Into<String>, span: Span, text: impl Into<String>) -> Self {
        self.fix = Some(Fix { title: title.into(), edits: vec![Edit { span, text: text.into() }] });
        self
    }

    /// The same with another place.
    pub fn with_related(mut self, span: Span, message: impl Into<String>) -> Self {
        self.related.push(Related { span, message: message.into() });
        self
    }
}
