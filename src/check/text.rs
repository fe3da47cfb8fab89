//! Checks the file as a whole: its encoding, its syntax and its size.

use super::syntax::{self, Read};
use crate::declaration::chunks::Chunks;
use crate::declaration::patch::Patched;
use crate::declaration::scalar::Core;
use crate::declaration::yaml::{self, MAX_DEPTH, MAX_NODES, Tree};
use crate::diagnostic::{Code, Diagnostic, Edit, Fix, Severity};
use crate::source::{Source, Span};

/// Maximum size of a declaration.
pub const MAX_BYTES: usize = 1 << 20;

/// Maximum number of reported problems of one kind.
const MAX_TOLD: usize = 16;

/// The message for a file of this size.
pub fn too_large(bytes: u64) -> String {
    format!("the file is too large: {bytes} bytes (at most {MAX_BYTES})")
}

/// Parses a text into a tree and reports its syntax errors. See [`syntax::read`] for the allowance.
pub fn read(source: &Source, allowance: usize, chunks: &mut Chunks) -> Read {
    let length = source.text().len();
    if length > MAX_BYTES {
        let end = source.offset(0, usize::MAX).min(80);
        let found = vec![Diagnostic::new(Code::Limit, Span::new(0, end), "", too_large(length as u64))];
        return Read { tree: yaml::read(&Patched::new("")).0, found, blanks: Vec::new(), hurried: false };
    }
    let (text, controls) = without_controls(source.text());
    let start = without_directive_words(Patched::new(text));
    let mut read = syntax::read(source, start, allowance, chunks);
    read.found.extend(controls);
    shallow(&read.tree, &mut read.found);
    structure(source, &read.tree, &mut read.found);
    read
}

/// Replaces each character that YAML does not allow by blanks of the same length.
fn without_controls(text: &str) -> (String, Vec<Diagnostic>) {
    let wrong = |c: char| {
        matches!(c, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{7f}'..='\u{84}' | '\u{86}'..='\u{9f}')
            || matches!(c, '\u{fffe}' | '\u{ffff}')
    };
    // The first byte of each such character is one of these.
    let odd = |byte: u8| matches!(byte, 0..=8 | 11 | 12 | 14..=31 | 0x7f | 0xc2 | 0xef);
    if !text.bytes().any(odd) || !text.contains(wrong) {
        return (text.to_owned(), Vec::new());
    }
    let mut clean = String::with_capacity(text.len());
    let mut found = Vec::new();
    for (at, c) in text.char_indices() {
        if !wrong(c) {
            clean.push(c);
            continue;
        }
        let span = Span::new(at, at + c.len_utf8());
        clean.extend(std::iter::repeat_n(' ', c.len_utf8()));
        if found.len() < MAX_TOLD {
            let message =
                format!("the control character U+{:04X} is not allowed in YAML: remove it", u32::from(c));
            found.push(Diagnostic::new(Code::YamlSyntax, span, "", message).with_fix("remove it", span, ""));
        }
    }
    (clean, found)
}

/// Blanks the second version in `%YAML 1.1 1.2`. YAML allows it, and only the first one counts.
fn without_directive_words(text: Patched) -> Patched {
    let mut at = 0;
    for line in text.text().split_inclusive('\n').take_while(|line| line.starts_with(['%', '#', '\n', '\r']))
    {
        let words: Vec<&str> = line.split_whitespace().take(3).collect();
        let version = |word: &str| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.');
        if let ["%YAML", _, more] = words[..]
            && version(more)
        {
            let from = at + line.find(more).unwrap_or(line.len());
            let to = at + line.trim_end().len();
            return text.replace(from, to, &" ".repeat(to - from));
        }
        at += line.len();
    }
    text
}

/// Reports lines that the parser accepts although YAML does not; see [`Tree::shallow_lines`].
fn shallow(tree: &Tree, found: &mut Vec<Diagnostic>) {
    for lines in tree.shallow_lines().into_iter().take(MAX_TOLD) {
        // If nothing else is wrong, a bracket may be closed below its key: nearly every reader accepts that.
        let worst = lines.iter().find(|line| !line.closing).or(lines.first());
        let Some(line) = worst else { continue };
        let message = if line.tab {
            "tabs are not allowed as indentation: use spaces, more than before the key or dash above"
        } else if line.closing {
            "indent this bracket further than its key or dash: some YAML readers refuse it"
        } else {
            "this is part of the value above, so indent it further than the key or dash of the value"
        };
        let mut diagnostic = Diagnostic::new(Code::YamlSyntax, line.span, "", message);
        if line.closing {
            diagnostic.severity = Severity::Warning;
        }
        let edits = lines.iter().map(|line| {
            let (span, spaces) = line.indentation;
            Edit { span, text: " ".repeat(spaces) }
        });
        diagnostic.fix = Some(Fix { title: "indent it".to_owned(), edits: edits.collect() });
        found.push(diagnostic);
    }
}

/// Reports what YAML allows and a declaration does not.
fn structure(source: &Source, tree: &Tree, found: &mut Vec<Diagnostic>) {
    for &id in &tree.lost_aliases {
        let span = tree.node(id).span;
        let message = format!("unknown alias \"{}\": no anchor before it has this name", source.slice(span));
        found.push(Diagnostic::new(Code::YamlSyntax, span, "", message));
    }
    if let Some(span) = tree.second_document {
        let message = "a second document starts here: one file holds one superpower";
        found.push(Diagnostic::new(Code::YamlSyntax, span, "", message));
    }
    let told = found.iter().any(|it| it.code == Code::Limit);
    if let Some(span) = tree.too_deep.filter(|_| !told) {
        let counted = if tree.has_aliases() { " after expanding the alias" } else { "" };
        let message = format!("nested deeper than {MAX_DEPTH} levels{counted}");
        found.push(Diagnostic::new(Code::Limit, span, "", message));
    }
    if tree.expanded > MAX_NODES || tree.cut {
        let span = tree.root().map(|root| tree.node(root).span).unwrap_or_default();
        let end = source.offset(source.position(span.start).line, usize::MAX);
        let message = format!("more than {MAX_NODES} values after expanding aliases");
        found.push(Diagnostic::new(Code::Limit, Span::new(span.start, end.max(span.start)), "", message));
    }
    let nothing = tree.root().is_none_or(|root| tree.core(root) == Some(Core::Null));
    if nothing && found.is_empty() {
        let message = "the file is empty: a superpower needs name, description, version and stages";
        found.push(Diagnostic::new(Code::MissingField, Span::default(), "", message));
    }
}

/// Decodes bytes into a text of the same length, and reports where they are not UTF-8.
pub fn decode(bytes: &[u8]) -> (String, Vec<Diagnostic>) {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        let message = "the file is UTF-16: save it as UTF-8";
        return (String::new(), vec![Diagnostic::new(Code::YamlSyntax, Span::default(), "", message)]);
    }
    let mut text = String::with_capacity(bytes.len());
    let mut found = Vec::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        let wrong = chunk.invalid();
        if wrong.is_empty() {
            continue;
        }
        let start = text.len();
        text.extend(std::iter::repeat_n('?', wrong.len()));
        if found.len() < MAX_TOLD {
            let shown: Vec<String> = wrong.iter().map(|byte| format!("0x{byte:02X}")).collect();
            let message = format!("{} is not UTF-8: save the file as UTF-8", shown.join(" "));
            found.push(Diagnostic::new(Code::YamlSyntax, Span::new(start, text.len()), "", message));
        }
    }
    (text, found)
}
