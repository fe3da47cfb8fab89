//! Makes text from outside safe for terminals and for our own log lines, so that it cannot control them.

use crate::hidden;

/// `text` with control characters shown as `^[`, and hidden or misleading ones as `<202e>`. See [`crate::hidden`].
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut before = None;
    for letter in text.chars() {
        match letter {
            '\u{0}'..='\u{1f}' => {
                shown.push('^');
                shown.push(char::from(letter as u8 + 0x40));
            }
            '\u{7f}' => shown.push_str("^?"),
            _ if hidden::name(letter).is_none() || hidden::is_fine(letter, before) => {
                shown.push(letter);
                before = Some(letter);
                continue;
            }
            _ => shown.push_str(&format!("<{:04x}>", u32::from(letter))),
        }
        before = None;
    }
    shown
}

/// Removes control sequences: colours, links, titles. Other control characters remain.
pub fn plain(text: &str) -> String {
    let mut out = Plain(String::with_capacity(text.len()));
    // An unterminated sequence hides no more than its line.
    for line in text.split_inclusive('\n') {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        vte::Parser::new().advance(&mut out, line.as_bytes());
        out.0.push_str(end);
    }
    out.0
}

/// Collects what a terminal would print.
struct Plain(String);

impl vte::Perform for Plain {
    fn print(&mut self, letter: char) {
        self.0.push(letter);
    }

    fn execute(&mut self, control: u8) {
        self.0.push(char::from(control));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_sequences_are_removed_and_text_remains() {
        for (text, expected) in [
            ("\x1b[1;31merror\x1b[0m: E0382", "error: E0382"),
            ("\x1b[38:2::255:0:0mred\x1b[m", "red"),
            ("see \x1b]8;;https://example.org/a?b\x1b\\here\x1b]8;;\x1b\\.", "see here."),
            ("see \x1b]8;;file:///x\x07here\x1b]8;;\x07.", "see here."),
            ("\x1b]0;a title\x07text", "text"),
            ("\x1bP1$r0m\x1b\\text\x1b(B\x1b=", "text"),
            ("a\tb\r\nc\x08d", "a\tb\r\nc\x08d"),
            ("äöü 日本 🎉\u{301}", "äöü 日本 🎉\u{301}"),
            ("[31mno sequence, ]8;; neither", "[31mno sequence, ]8;; neither"),
        ] {
            assert_eq!(plain(text), expected, "{text:?}");
        }
    }

    #[test]
    fn an_unterminated_sequence_hides_no_other_line() {
        assert_eq!(plain("\x1b]8;;https://x\nerror: why\nbye\x1b["), "\nerror: why\nbye");
        assert_eq!(plain("\x1bPq\nerror: why"), "\nerror: why");
    }
}
