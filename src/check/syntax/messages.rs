//! Translates the parser's errors into messages that say what to do.

use granit_parser::ErrorKind;

/// The message for an error that no guess explains.
pub fn message(kind: &ErrorKind) -> String {
    match kind {
        ErrorKind::UnclosedQuotedScalar | ErrorKind::DocumentIndicatorInQuotedScalar => {
            "the closing quote is missing".to_owned()
        }
        ErrorKind::UnclosedFlowCollection { open } => format!("\"{open}\" is never closed"),
        ErrorKind::MisplacedFlowCollectionEnd => {
            "this bracket was never opened: remove it, or put the text in quotes".to_owned()
        }
        ErrorKind::MismatchedFlowCollectionEnd { open, close } => {
            format!("\"{open}\" cannot be closed by \"{close}\"")
        }
        ErrorKind::UnexpectedEofFlowSequence
        | ErrorKind::UnexpectedEofFlowMapping
        | ErrorKind::UnexpectedEofImplicitFlowMapping => {
            "the file ends before a bracket is closed".to_owned()
        }
        ErrorKind::ExpectedFlowMappingSeparator => "expected \",\" or \"}\" before this".to_owned(),
        ErrorKind::ExpectedFlowSequenceSeparator => "expected \",\" or \"]\" before this".to_owned(),
        ErrorKind::ExpectedBlockMappingKey | ErrorKind::SimpleKeyExpected | ErrorKind::InvalidSimpleKey => {
            "expected a key and \":\" here".to_owned()
        }
        ErrorKind::ExpectedBlockSequenceEntry => "expected an item that starts with \"- \" here".to_owned(),
        ErrorKind::BlockSequenceEntryNotAllowed => {
            "a list item is not allowed here: check the indentation".to_owned()
        }
        ErrorKind::MappingValueNotAllowed | ErrorKind::InvalidColonPlacement => {
            "\":\" is not allowed here: put the text in quotes, or check the indentation".to_owned()
        }
        ErrorKind::InvalidBlockScalarHeader => {
            "only - + or a digit can follow \"|\" and \">\": the text starts on the next line".to_owned()
        }
        ErrorKind::InvalidBlockScalarIndent => "this line is indented less than its text".to_owned(),
        ErrorKind::UnexpectedCharacter { character } => {
            format!("a text cannot start with \"{}\": put it in quotes", character.escape_default())
        }
        ErrorKind::MissingAnchorOrAliasName => {
            "a name is missing after \"&\" or \"*\": put the text in quotes if it is one".to_owned()
        }
        ErrorKind::UnsupportedYamlMajorVersion => "only YAML 1 is supported".to_owned(),
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation
        | ErrorKind::TabAtBlockScalarStart
        | ErrorKind::TabInPlainScalar => "a tab is not allowed here: use spaces".to_owned(),
        ErrorKind::CommentNotSeparated => "a space is missing before \"#\"".to_owned(),
        ErrorKind::ExpectedDocumentStart => {
            "the document ended before this: check the indentation of the lines above".to_owned()
        }
        other => {
            let text = other.to_string();
            let rest = text.rsplit_once(", ").map_or(text.as_str(), |(_, rest)| rest);
            format!("invalid YAML: {}", rest.to_lowercase())
        }
    }
}
