//! Faults of the text as such: not UTF-8, not YAML, too large.

use super::syntax::{self, Read};
use crate::declaration::chunks::Chunks;
use crate::declaration::patch::Patched;
use crate::declaration::scalar::Core;
use crate::declaration::yaml::{self, MAX_DEPTH, MAX_NODES, Tree};
use crate::diagnostic::{Code, Diagnostic, Edit, Fix, Severity};
use crate::source::{Source, Span};

/// How large a declaration may be.
pub const MAX_BYTES: usize = 1 << 20;

/// How many faults of one kind are told.
const MAX_TOLD: usize = 16;

/// What is said of a text of so many bytes.
pub fn too_large(bytes: u64) -> String {
    format!("the file has {bytes} bytes, and {MAX_BYTES} is the most")
}

/// Reads a text into a tree, with what is wrong with the text. See [`syntax::read`] for the allowance.
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

/// The text with a blank, of the same length, for each character that cannot stand in YAML.
fn without_controls(text: &str) -> (String, Vec<Diagnostic>) {
    let wrong = |c: char| {
        matches!(c, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{7f}'..='\u{84}' | '\u{86}'..='\u{9f}')
            || matches!(c, '\u{fffe}' | '\u{ffff}')
    };
    // Each of them begins with one of these bytes.
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
                format!("the control character U+{:04X} cannot stand in YAML: remove it", u32::from(c));
            found.push(Diagnostic::new(Code::YamlSyntax, span, "", message).with_fix("remove it", span, ""));
        }
    }
    (clean, found)
}

/// The text with blanks for a second version in `%YAML 1.1 1.2`, which YAML allows: the first one counts.
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

/// Lines that the parser takes and YAML does not; see [`Tree::shallow_lines`].
fn shallow(tree: &Tree, found: &mut Vec<Diagnostic>) {
    for lines in tree.shallow_lines().into_iter().take(MAX_TOLD) {
        // Where nothing else is wrong, a bracket may be closed below its key: nearly everyone reads that.
        let worst = lines.iter().find(|line| !line.closing).or(lines.first());
        let Some(line) = worst else { continue };
        let message = if line.tab {
            "a tab cannot indent: write spaces, more than before the key or dash that this belongs to"
        } else if line.closing {
            "YAML wants this bracket indented further than the key or dash that it belongs to: some readers refuse it"
        } else {
            "this belongs to the value above, so it must be indented further than its key or dash"
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

/// What YAML allows and a declaration does not.
fn structure(source: &Source, tree: &Tree, found: &mut Vec<Diagnostic>) {
    for &id in &tree.lost_aliases {
        let span = tree.node(id).span;
        let message =
            format!("\"{}\" stands for nothing: no anchor before it has this name", source.slice(span));
        found.push(Diagnostic::new(Code::YamlSyntax, span, "", message));
    }
    if let Some(span) = tree.second_document {
        let message = "a second document starts here: one file holds one superpower";
        found.push(Diagnostic::new(Code::YamlSyntax, span, "", message));
    }
    let told = found.iter().any(|it| it.code == Code::Limit);
    if let Some(span) = tree.too_deep.filter(|_| !told) {
        let counted = if tree.has_aliases() { ", what the alias stands for counted" } else { "" };
        let message = format!("nested deeper than {MAX_DEPTH} levels{counted}");
        found.push(Diagnostic::new(Code::Limit, span, "", message));
    }
    if tree.expanded > MAX_NODES || tree.cut {
        let span = tree.root().map(|root| tree.node(root).span).unwrap_or_default();
        let end = source.offset(source.position(span.start).line, usize::MAX);
        let message = format!("more than {MAX_NODES} values, with aliases counted as what they stand for");
        found.push(Diagnostic::new(Code::Limit, Span::new(span.start, end.max(span.start)), "", message));
    }
    let nothing = tree.root().is_none_or(|root| tree.core(root) == Some(Core::Null));
    if nothing && found.is_empty() {
        let message = "there is nothing here: a superpower needs name, description, version and stages";
        found.push(Diagnostic::new(Code::MissingField, Span::default(), "", message));
    }
}

/// Bytes as a text of the same length, with where they are none.
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
