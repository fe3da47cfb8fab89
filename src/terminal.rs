//! Texts that others wrote, where a terminal or a line of ours shows them: nothing in them is obeyed.

use crate::hidden;

/// `text` with what a terminal would obey, and what changes or hides what is read, made visible: control characters
/// as `^[`, all others as `<202e>`. See [`crate::hidden`].
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

/// A text without control sequences, such as colours.
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\u{1b}' {
            out.push(c);
        } else if chars.as_str().starts_with('[') {
            // Control sequence: parameters up to a final letter.
            let _ = chars.by_ref().skip(1).find(|c| matches!(c, '@'..='~'));
        }
    }
    out
}
