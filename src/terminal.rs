//! Texts that others wrote, where a terminal or a line of ours shows them: nothing in them is obeyed.

/// `text` with what a terminal would obey made visible: control characters as `^[`, those that turn the direction of
/// writing as `<202e>`.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\u{0}'..='\u{1f}' => {
                shown.push('^');
                shown.push(char::from(letter as u8 + 0x40));
            }
            '\u{7f}' => shown.push_str("^?"),
            '\u{80}'..='\u{9f}'
            | '\u{61c}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}' => shown.push_str(&format!("<{:04x}>", u32::from(letter))),
            _ => shown.push(letter),
        }
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
