//! Invisible parts of a text: zero-width characters and terminal sequences.

/// Whether a character is invisible: a BOM, a joiner, a direction mark.
pub fn is_invisible(letter: char) -> bool {
    matches!(letter,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0000}'..='\u{e0fff}')
}

/// The end of the terminal sequence (a colour, a window title) that begins at `at`; `None` if none does.
pub fn sequence(text: &str, at: usize) -> Option<usize> {
    let rest = text[at..].strip_prefix('\u{1b}')?;
    let len = match rest.chars().next() {
        Some('[') => 1 + rest[1..].find(|c| ('@'..='~').contains(&c)).map_or(rest.len() - 1, |end| end + 1),
        Some(']' | 'P' | 'X' | '^' | '_') => {
            let bell = rest.find('\u{7}').map(|end| end + 1);
            let string = rest.find("\u{1b}\\").map(|end| end + 2);
            bell.into_iter().chain(string).min().unwrap_or(1)
        }
        Some(other) => other.len_utf8(),
        None => 0,
    };
    Some(at + 1 + len)
}

/// Removes terminal sequences and invisible characters.
pub fn bare(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(letter) = text[at..].chars().next() {
        if let Some(end) = sequence(text, at) {
            at = end;
            continue;
        }
        if !is_invisible(letter) {
            out.push(letter);
        }
        at += letter.len_utf8();
    }
    out
}
