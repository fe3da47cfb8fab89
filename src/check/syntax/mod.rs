//! Continues to read after a syntax error.
//!
//! A YAML parser stops at its first error. So the error is repaired in a copy, which is read again: first as the author
//! probably meant it (that repair is offered as the fix), else with the unreadable part blanked. A repair counts only
//! if the next error comes later in the text.

mod guess;
mod guesses;
mod indent;
mod lookalikes;
mod messages;
mod quotes;

use crate::declaration::chunks::Chunks;
use crate::declaration::line::Line;
use crate::declaration::patch::Patched;
use crate::declaration::yaml::{MAX_DEPTH, Stop, Tree};
use crate::diagnostic::{Code, Diagnostic, Edit, Fix};
use crate::source::{Source, Span};
use granit_parser::ErrorKind;
use guess::Guess;

/// Limits of the repair: errors, parses, and bytes.
const MAX_ERRORS: usize = 16;
const MAX_READS: usize = 96;
const MAX_BYTES_READ: usize = 4 << 20;

/// The result of reading.
pub struct Read {
    /// The tree; if the text could not be repaired, the part before the last error.
    pub tree: Tree,
    /// The errors.
    pub found: Vec<Diagnostic>,
    /// Blanked ranges, in the source. A key that seems to be missing there may only be unreadable.
    pub blanks: Vec<Span>,
    /// Whether a larger allowance might have repaired more.
    pub hurried: bool,
}

/// Reads as much of `start` as possible. All parses together read at most about `allowance` bytes.
pub fn read(source: &Source, start: Patched, allowance: usize, chunks: &mut Chunks) -> Read {
    let allowance = allowance.min(MAX_BYTES_READ);
    chunks.begin();
    let mut reader = Reader { source, chunks, reads: 0, bytes: 0, allowance, hurried: false };
    let mut text = start;
    let (mut tree, mut stop) = reader.read(&text);
    let (mut found, mut blanks) = (Vec::new(), Vec::new());
    while let Some(error) = stop.take() {
        let fatal = matches!(error.error.kind(), ErrorKind::RecursionLimitExceeded);
        let repaired =
            if fatal || found.len() + 1 >= MAX_ERRORS { None } else { reader.repair(&text, &error) };
        match repaired {
            Some((guess, step)) => {
                found.extend(guess.diagnostics(&text));
                (text, tree, stop) = (step.text, step.tree, step.stop);
            }
            None => {
                found.push(plain(source, &text, &error));
                let blanked = if fatal { None } else { reader.blank(&text, &error) };
                let Some((spans, step)) = blanked else {
                    blanks.push(Span::new(text.to_source(error.offset), source.text().len()));
                    break;
                };
                blanks.extend(spans);
                (text, tree, stop) = (step.text, step.tree, step.stop);
            }
        }
        misread(&mut reader, &mut text, &mut tree, &mut stop, &mut found);
    }
    misread(&mut reader, &mut text, &mut tree, &mut stop, &mut found);
    Read { tree, found, blanks, hurried: reader.hurried }
}

struct Step {
    text: Patched,
    tree: Tree,
    stop: Option<Stop>,
}

struct Reader<'a> {
    source: &'a Source,
    chunks: &'a mut Chunks,
    reads: usize,
    bytes: usize,
    allowance: usize,
    hurried: bool,
}

impl Reader<'_> {
    fn read(&mut self, text: &Patched) -> (Tree, Option<Stop>) {
        let (tree, stop, bytes) = self.chunks.read(text);
        self.reads += 1;
        self.bytes += bytes;
        (tree, stop)
    }

    /// Parses `text`, if the allowance permits.
    fn step(&mut self, text: Patched) -> Option<Step> {
        if self.reads >= MAX_READS || self.bytes >= MAX_BYTES_READ {
            return None;
        }
        if self.bytes >= self.allowance {
            self.hurried = true;
            return None;
        }
        let (tree, stop) = self.read(&text);
        Some(Step { text, tree, stop })
    }

    /// Where in the source reading stopped; past the end if it did not.
    fn reach(text: &Patched, stop: Option<&Stop>) -> usize {
        stop.map_or(usize::MAX, |stop| text.to_source(stop.offset))
    }

    fn reached_line(&self, text: &Patched, stop: Option<&Stop>) -> usize {
        stop.map_or(usize::MAX, |_| self.source.position(Self::reach(text, stop)).line)
    }

    /// The first guess after which reading continues; of several about the same place, the one that gets furthest.
    fn repair(&mut self, text: &Patched, error: &Stop) -> Option<(Guess, Step)> {
        let guesses = guesses::guesses(text.text(), error);
        for same in guesses.chunk_by(|a, b| a.span == b.span && a.message == b.message) {
            if let Some(best) = self.best(text, error, same) {
                return Some(best);
            }
        }
        self.best(text, error, &indent::guesses(text.text(), error))
    }

    fn best(&mut self, text: &Patched, error: &Stop, guesses: &[Guess]) -> Option<(Guess, Step)> {
        let reached = Self::reach(text, Some(error));
        let mut best: Option<(usize, Guess, Step)> = None;
        for guess in guesses {
            let Some(step) = self.step(guess.apply(text)) else { break };
            let reach = Self::reach(&step.text, step.stop.as_ref());
            if reach > reached && best.as_ref().is_none_or(|(furthest, ..)| reach > *furthest) {
                best = Some((reach, guess.clone(), step));
            }
        }
        best.map(|(_, guess, step)| (guess, step))
    }

    /// Blanks as little as possible: a value, a line, the same for the line before, or both.
    fn blank(&mut self, text: &Patched, error: &Stop) -> Option<(Vec<Span>, Step)> {
        let reached = self.reached_line(text, Some(error));
        let here = Line::at(text.text(), error.offset);
        let before = here.before(text.text());
        let mut tries: Vec<Vec<(usize, usize)>> = Vec::new();
        tries.extend(here.value.map(|value| vec![value]));
        tries.push(vec![here.content()]);
        if let Some(before) = &before {
            tries.extend(before.value.map(|value| vec![value]));
            tries.push(vec![before.content()]);
            tries.push(vec![before.content(), here.content()]);
        }
        for ranges in tries {
            let mut blanked = text.clone();
            for &(start, end) in &ranges {
                blanked = blanked.replace(start, end, &" ".repeat(end - start));
            }
            let step = self.step(blanked)?;
            if self.reached_line(&step.text, step.stop.as_ref()) > reached {
                let span =
                    |(start, end): (usize, usize)| Span::new(text.to_source(start), text.to_source(end));
                return Some((ranges.into_iter().map(span).collect(), step));
            }
        }
        None
    }
}

/// An error with only the parser's own message.
fn plain(source: &Source, text: &Patched, stop: &Stop) -> Diagnostic {
    let line = Line::at(text.text(), stop.offset);
    let rest = &text.text()[stop.offset..line.end.max(stop.offset)];
    let length: usize = rest.trim_end().chars().take(80).map(char::len_utf8).sum();
    let mut span = Span::new(text.to_source(stop.offset), text.to_source(stop.offset + length));
    if span.start == span.end {
        // At the end of a line or of the text, show what comes before: that is what the author can see.
        let line = source.position(span.start).line;
        let before = source.slice(Span::new(source.line_start(line), span.start));
        let last =
            before.trim_end().len() - before.trim_end().trim_end_matches(|c: char| !c.is_whitespace()).len();
        span.start -= if before.trim_end() == before { last } else { 0 };
    }
    if *stop.error.kind() == ErrorKind::RecursionLimitExceeded {
        let end = source.offset(source.position(span.start).line, source.position(span.start).col + 1);
        let span = Span::new(span.start, end.max(span.start));
        return Diagnostic::new(Code::Limit, span, "", format!("nested deeper than {MAX_DEPTH} levels"));
    }
    Diagnostic::new(Code::YamlSyntax, span, "", messages::message(stop.error.kind()))
}

impl Guess {
    fn apply(&self, text: &Patched) -> Patched {
        let mut edits = self.edits.clone();
        edits.extend(self.also.iter().flat_map(|other| other.edits.iter().cloned()));
        edits.sort_by_key(|(start, end, _)| std::cmp::Reverse((*start, *end)));
        edits.into_iter().fold(text.clone(), |text, (start, end, with)| text.replace(start, end, &with))
    }

    /// One diagnostic for this guess, and one for each problem fixed with it.
    fn diagnostics(&self, text: &Patched) -> Vec<Diagnostic> {
        std::iter::once(self).chain(&self.also).map(|guess| guess.diagnostic(text)).collect()
    }

    fn diagnostic(&self, text: &Patched) -> Diagnostic {
        let span = |start, end| Span::new(text.to_source(start), text.to_source(end));
        let mut diagnostic =
            Diagnostic::new(Code::YamlSyntax, span(self.span.0, self.span.1), "", self.message.clone());
        let edits = self.shown.as_ref().unwrap_or(&self.edits);
        let edits =
            edits.iter().map(|(start, end, with)| Edit { span: span(*start, *end), text: with.clone() });
        diagnostic.fix = Some(Fix { title: self.title.clone(), edits: edits.collect() });
        diagnostic
    }
}

/// Finds valid YAML that is never what was meant, and reads it again as what it looks like: `{{x}}` without quotes is
/// two mappings, and a sign may be a look-alike.
fn misread(
    reader: &mut Reader<'_>,
    text: &mut Patched,
    tree: &mut Tree,
    stop: &mut Option<Stop>,
    found: &mut Vec<Diagnostic>,
) {
    let mut guesses: Vec<Guess> = tree
        .bare_templates()
        .into_iter()
        .map(|raw| {
            // Text may follow the braces, and then reading stopped there.
            let value = Line::at(text.text(), raw.start).value.filter(|value| value.0 == raw.start);
            quotes::quote(
                text.text(),
                value.unwrap_or((raw.start, raw.end)),
                quotes::BARE_TEMPLATE.to_owned(),
            )
        })
        .collect();
    guesses.extend(
        tree.tight_colons().into_iter().map(|(key, gap)| lookalikes::tight_colon(text.text(), key, gap)),
    );
    for raw in tree.odd_words() {
        // An unquoted text may be several lines that were meant as keys.
        let mut line = Some(Line::at(text.text(), raw.start));
        while let Some(here) = line.filter(|here| here.start <= raw.end && guesses.len() < MAX_ERRORS) {
            guesses.extend(lookalikes::of_line(text.text(), &here));
            line = here.after(text.text());
        }
    }
    guesses.truncate(MAX_ERRORS.saturating_sub(found.len()));
    guesses.sort_by_key(|guess| guess.span);
    guesses.dedup_by_key(|guess| guess.span);
    if guesses.is_empty() || reader.reads >= MAX_READS {
        return;
    }
    found.extend(guesses.iter().map(|guess| guess.diagnostic(text)));
    let repaired = guesses.iter().rev().fold(text.clone(), |text, guess| guess.apply(&text));
    (*tree, *stop) = reader.read(&repaired);
    *text = repaired;
}
