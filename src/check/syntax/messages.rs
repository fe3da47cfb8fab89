//! The parser's errors in words that say what to do.

use granit_parser::ErrorKind;

/// What is said of an error that no guess explains.
pub fn message(kind: &ErrorKind) -> String {
    match kind {
        ErrorKind::UnclosedQuotedScalar | ErrorKind::DocumentIndicatorInQuotedScalar => {
            "the closing quote of a text is missing".to_owned()
        }
        ErrorKind::UnclosedFlowCollection { open } => format!("\"{open}\" is never closed"),
        ErrorKind::MisplacedFlowCollectionEnd => {
            "this bracket closes nothing: remove it, or quote the text".to_owned()
        }
        ErrorKind::MismatchedFlowCollectionEnd { open, close } => {
            format!("\"{open}\" is closed by \"{close}\"")
        }
        ErrorKind::UnexpectedEofFlowSequence
        | ErrorKind::UnexpectedEofFlowMapping
        | ErrorKind::UnexpectedEofImplicitFlowMapping => {
            "the file ends before a bracket is closed".to_owned()
        }
        ErrorKind::ExpectedFlowMappingSeparator => "\",\" or \"}\" must stand before this".to_owned(),
        ErrorKind::ExpectedFlowSequenceSeparator => "\",\" or \"]\" must stand before this".to_owned(),
        ErrorKind::ExpectedBlockMappingKey | ErrorKind::SimpleKeyExpected | ErrorKind::InvalidSimpleKey => {
            "a key with \":\" behind it must stand here".to_owned()
        }
        ErrorKind::ExpectedBlockSequenceEntry => "an item that starts with \"- \" must stand here".to_owned(),
        ErrorKind::BlockSequenceEntryNotAllowed => {
            "no item of a list can stand here: check the indentation".to_owned()
        }
        ErrorKind::MappingValueNotAllowed | ErrorKind::InvalidColonPlacement => {
            "no \":\" can stand here: quote the text, or check the indentation".to_owned()
        }
        ErrorKind::InvalidBlockScalarHeader => {
            "nothing but - + or a digit can stand behind \"|\" and \">\": the text starts on the next line"
                .to_owned()
        }
        ErrorKind::InvalidBlockScalarIndent => {
            "this line is indented less than the text it belongs to".to_owned()
        }
        ErrorKind::UnexpectedCharacter { character } => {
            format!("a text cannot start with \"{}\": put it in quotes", character.escape_default())
        }
        ErrorKind::MissingAnchorOrAliasName => {
            "a name is missing behind \"&\" or \"*\": put the text in quotes if it is one".to_owned()
        }
        ErrorKind::UnsupportedYamlMajorVersion => "only YAML 1 is read".to_owned(),
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation
        | ErrorKind::TabAtBlockScalarStart
        | ErrorKind::TabInPlainScalar => "a tab cannot stand here: write spaces".to_owned(),
        ErrorKind::CommentNotSeparated => "a space is missing before \"#\"".to_owned(),
        ErrorKind::ExpectedDocumentStart => {
            "the superpower ended before this: check the indentation of the lines above".to_owned()
        }
        other => {
            let text = other.to_string();
            let rest = text.rsplit_once(", ").map_or(text.as_str(), |(_, rest)| rest);
            format!("this is no YAML: {}", rest.to_lowercase())
        }
    }
}
