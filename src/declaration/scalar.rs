//! The type of a plain scalar in YAML 1.2's core schema, which we use, and in YAML 1.1, which other tools may use.

use std::sync::LazyLock;

/// The type of a scalar in the core schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Core {
    /// `~`, `null`, or nothing at all.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int,
    /// Another number.
    Float,
    /// Anything else, and everything in quotes.
    Text,
}

impl Core {
    /// The type in messages, with its article.
    pub const fn called(self) -> &'static str {
        match self {
            Core::Null => "empty",
            Core::Bool(_) => "a bool",
            Core::Int => "a whole number",
            Core::Float => "a number",
            Core::Text => "a text",
        }
    }
}

/// The type of a plain scalar.
pub fn core(text: &str) -> Core {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Core::Null,
        "true" | "True" | "TRUE" => return Core::Bool(true),
        "false" | "False" | "FALSE" => return Core::Bool(false),
        ".nan" | ".NaN" | ".NAN" => return Core::Float,
        _ => {}
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let digits = |text: &str, radix| !text.is_empty() && text.chars().all(|c| c.is_digit(radix));
    if digits(unsigned, 10)
        || text.strip_prefix("0o").is_some_and(|rest| digits(rest, 8))
        || text.strip_prefix("0x").is_some_and(|rest| digits(rest, 16))
    {
        return Core::Int;
    }
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") || is_float(unsigned) {
        return Core::Float;
    }
    Core::Text
}

/// `[0-9]+ ( \. [0-9]* )? ( [eE] [-+]? [0-9]+ )?`, or the same with digits only after the point.
fn is_float(text: &str) -> bool {
    let (number, exponent) =
        text.split_once(['e', 'E']).map_or((text, None), |(number, rest)| (number, Some(rest)));
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit());
    digits(whole)
        && digits(part)
        && !(whole.is_empty() && part.is_empty())
        && exponent.is_none_or(|exponent| {
            let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
            !exponent.is_empty() && digits(exponent)
        })
}

/// The type of a plain scalar in YAML 1.1, if it differs from ours.
pub fn other_reading(text: &str) -> Option<&'static str> {
    static NUMBER: LazyLock<Option<regex::Regex>> = LazyLock::new(|| {
        regex::Regex::new(
            r"^(?:(?<octal>[-+]?0[0-7]+)|(?<date>\d{4}-\d\d?-\d\d?(?:[Tt ].*)?)|(?<clock>[-+]?[1-9]\d*(?::[0-5]?\d)+(?:\.\d*)?)|(?<under>[-+]?(?:0b[01_]+|[1-9]\d*_[\d_]*)))$",
        )
        .ok()
    });
    match text.to_ascii_lowercase().as_str() {
        "yes" | "on" | "y" => return Some("true"),
        "no" | "off" | "n" => return Some("false"),
        "<<" | "=" => return None,
        _ => {}
    }
    if !text.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '+') {
        return None;
    }
    let found = NUMBER.as_ref()?.captures(text)?;
    [
        ("octal", "an octal number"),
        ("date", "a date"),
        ("clock", "a number to the base 60"),
        ("under", "a number"),
    ]
    .into_iter()
    .find(|(group, _)| found.name(group).is_some())
    .map(|(_, called)| called)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_scalars_are_read_by_the_core_schema() {
        for text in ["1", "-12", "+3", "012", "0o17", "0xFf"] {
            assert_eq!(core(text), Core::Int, "{text}");
        }
        for text in ["1.0", "1.", ".5", "-1.5e3", "1e3", ".inf", "-.INF", ".nan"] {
            assert_eq!(core(text), Core::Float, "{text}");
        }
        for text in ["1.0.0", ".", "e3", "1e", "0x", "yes", "on", "-", "1_000", "2024-01-01", "nul"] {
            assert_eq!(core(text), Core::Text, "{text}");
        }
        assert_eq!(core("Null"), Core::Null);
        assert_eq!(core("TRUE"), Core::Bool(true));
    }

    #[test]
    fn types_of_yaml_1_1_are_recognized() {
        assert_eq!(other_reading("On"), Some("true"));
        assert_eq!(other_reading("no"), Some("false"));
        assert_eq!(other_reading("012"), Some("an octal number"));
        assert_eq!(other_reading("2024-01-01"), Some("a date"));
        assert_eq!(other_reading("12:30"), Some("a number to the base 60"));
        assert_eq!(other_reading("1_000"), Some("a number"));
        for text in ["none", "0", "089", "full", "tokens-only", "1.0.0", "12:99", "2024-1"] {
            assert_eq!(other_reading(text), None, "{text}");
        }
    }
}
