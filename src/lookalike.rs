//! Characters that look like YAML's signs: pasted from a web page, or typed on another keyboard.

use crate::hidden;

/// A character, the sign it looks like, and its name.
type Row = (char, &'static str, &'static str);

/// Characters by Unicode name. Invisible ones are in [`hidden`]; full-width forms are computed from ASCII.
const ROWS: &[Row] = &[
    ('\u{85}', "\n", "NEXT LINE"),
    ('\u{2028}', "\n", "LINE SEPARATOR"),
    ('\u{2029}', "\n", "PARAGRAPH SEPARATOR"),
    ('\u{a0}', " ", "NO-BREAK SPACE"),
    ('\u{1680}', " ", "OGHAM SPACE MARK"),
    ('\u{2000}', " ", "EN QUAD"),
    ('\u{2001}', " ", "EM QUAD"),
    ('\u{2002}', " ", "EN SPACE"),
    ('\u{2003}', " ", "EM SPACE"),
    ('\u{2004}', " ", "THREE-PER-EM SPACE"),
    ('\u{2005}', " ", "FOUR-PER-EM SPACE"),
    ('\u{2006}', " ", "SIX-PER-EM SPACE"),
    ('\u{2007}', " ", "FIGURE SPACE"),
    ('\u{2008}', " ", "PUNCTUATION SPACE"),
    ('\u{2009}', " ", "THIN SPACE"),
    ('\u{200a}', " ", "HAIR SPACE"),
    ('\u{202f}', " ", "NARROW NO-BREAK SPACE"),
    ('\u{205f}', " ", "MEDIUM MATHEMATICAL SPACE"),
    ('\u{2800}', " ", "BRAILLE PATTERN BLANK"),
    ('\u{3000}', " ", "IDEOGRAPHIC SPACE"),
    ('\u{b7}', "-", "MIDDLE DOT"),
    ('\u{2010}', "-", "HYPHEN"),
    ('\u{2011}', "-", "NON-BREAKING HYPHEN"),
    ('\u{2012}', "-", "FIGURE DASH"),
    ('\u{2013}', "-", "EN DASH"),
    ('\u{2014}', "-", "EM DASH"),
    ('\u{2015}', "-", "HORIZONTAL BAR"),
    ('\u{2022}', "-", "BULLET"),
    ('\u{2023}', "-", "TRIANGULAR BULLET"),
    ('\u{2043}', "-", "HYPHEN BULLET"),
    ('\u{2212}', "-", "MINUS SIGN"),
    ('\u{25aa}', "-", "BLACK SMALL SQUARE"),
    ('\u{25cf}', "-", "BLACK CIRCLE"),
    ('\u{25e6}', "-", "WHITE BULLET"),
    ('\u{fe58}', "-", "SMALL EM DASH"),
    ('\u{fe63}', "-", "SMALL HYPHEN-MINUS"),
    ('\u{201c}', "\"", "LEFT DOUBLE QUOTATION MARK"),
    ('\u{201d}', "\"", "RIGHT DOUBLE QUOTATION MARK"),
    ('\u{201e}', "\"", "DOUBLE LOW-9 QUOTATION MARK"),
    ('\u{201f}', "\"", "DOUBLE HIGH-REVERSED-9 QUOTATION MARK"),
    ('\u{2033}', "\"", "DOUBLE PRIME"),
    ('\u{301d}', "\"", "REVERSED DOUBLE PRIME QUOTATION MARK"),
    ('\u{301e}', "\"", "DOUBLE PRIME QUOTATION MARK"),
    ('\u{301f}', "\"", "LOW DOUBLE PRIME QUOTATION MARK"),
    ('\u{b4}', "'", "ACUTE ACCENT"),
    ('\u{2018}', "'", "LEFT SINGLE QUOTATION MARK"),
    ('\u{2019}', "'", "RIGHT SINGLE QUOTATION MARK"),
    ('\u{201a}', "'", "SINGLE LOW-9 QUOTATION MARK"),
    ('\u{201b}', "'", "SINGLE HIGH-REVERSED-9 QUOTATION MARK"),
    ('\u{2032}', "'", "PRIME"),
    ('\u{2236}', ":", "RATIO"),
    ('\u{a789}', ":", "MODIFIER LETTER COLON"),
    ('\u{fe13}', ":", "PRESENTATION FORM FOR VERTICAL COLON"),
    ('\u{fe55}', ":", "SMALL COLON"),
    ('\u{60c}', ",", "ARABIC COMMA"),
    ('\u{3001}', ",", "IDEOGRAPHIC COMMA"),
    ('\u{fe50}', ",", "SMALL COMMA"),
    ('\u{fe51}', ",", "SMALL IDEOGRAPHIC COMMA"),
    ('\u{3010}', "[", "LEFT BLACK LENTICULAR BRACKET"),
    ('\u{3011}', "]", "RIGHT BLACK LENTICULAR BRACKET"),
    ('\u{fe5b}', "{", "SMALL LEFT CURLY BRACKET"),
    ('\u{fe5c}', "}", "SMALL RIGHT CURLY BRACKET"),
    ('\u{fe5f}', "#", "SMALL NUMBER SIGN"),
];

/// The ASCII characters that have a full-width form, in order.
const ASCII: &str =
    "!\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~";

fn row(c: char) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.0 == c)
}

fn full_width(c: char) -> Option<&'static str> {
    let at = u32::from(c).checked_sub(0xff01)? as usize;
    ASCII.get(at..=at)
}

/// What `c` looks like: a sign, a letter, a digit, a space, a line break, or nothing (`""`). None if it is no
/// look-alike.
pub fn meant(c: char) -> Option<&'static str> {
    if c.is_ascii() {
        return None;
    }
    row(c).map(|row| row.1).or_else(|| full_width(c)).or_else(|| hidden::name(c).map(|_| ""))
}

/// Whether `c` looks like `sign`.
pub fn is_like(c: char, sign: &str) -> bool {
    meant(c) == Some(sign)
}

/// Whether `c` is invisible or looks like a space, but is not a space in YAML.
pub fn is_blank(c: char) -> bool {
    matches!(meant(c), Some(" " | ""))
}

/// The code point and name of a character, for example `U+00A0 NO-BREAK SPACE`.
pub fn called(c: char) -> String {
    let code = u32::from(c);
    match row(c).map(|row| row.2).or_else(|| hidden::name(c)) {
        Some(name) => format!("U+{code:04X} {name}"),
        None => match full_width(c).map(ascii_name) {
            Some(name) => format!("U+{code:04X} FULLWIDTH {name}"),
            None => format!("U+{code:04X}"),
        },
    }
}

fn ascii_name(sign: &str) -> String {
    const DIGITS: [&str; 10] =
        ["ZERO", "ONE", "TWO", "THREE", "FOUR", "FIVE", "SIX", "SEVEN", "EIGHT", "NINE"];
    const SIGNS: [(&str, &str); 32] = [
        ("!", "EXCLAMATION MARK"),
        ("\"", "QUOTATION MARK"),
        ("#", "NUMBER SIGN"),
        ("$", "DOLLAR SIGN"),
        ("%", "PERCENT SIGN"),
        ("&", "AMPERSAND"),
        ("'", "APOSTROPHE"),
        ("(", "LEFT PARENTHESIS"),
        (")", "RIGHT PARENTHESIS"),
        ("*", "ASTERISK"),
        ("+", "PLUS SIGN"),
        (",", "COMMA"),
        ("-", "HYPHEN-MINUS"),
        (".", "FULL STOP"),
        ("/", "SOLIDUS"),
        (":", "COLON"),
        (";", "SEMICOLON"),
        ("<", "LESS-THAN SIGN"),
        ("=", "EQUALS SIGN"),
        (">", "GREATER-THAN SIGN"),
        ("?", "QUESTION MARK"),
        ("@", "COMMERCIAL AT"),
        ("[", "LEFT SQUARE BRACKET"),
        ("\\", "REVERSE SOLIDUS"),
        ("]", "RIGHT SQUARE BRACKET"),
        ("^", "CIRCUMFLEX ACCENT"),
        ("_", "LOW LINE"),
        ("`", "GRAVE ACCENT"),
        ("{", "LEFT CURLY BRACKET"),
        ("|", "VERTICAL LINE"),
        ("}", "RIGHT CURLY BRACKET"),
        ("~", "TILDE"),
    ];
    if let Some(digit) = sign.parse::<usize>().ok().and_then(|digit| DIGITS.get(digit)) {
        return format!("DIGIT {digit}");
    }
    match SIGNS.iter().find(|(known, _)| *known == sign) {
        Some((_, name)) => (*name).to_owned(),
        None => {
            let size = if sign.chars().all(char::is_uppercase) { "CAPITAL" } else { "SMALL" };
            format!("LATIN {size} LETTER {}", sign.to_uppercase())
        }
    }
}

/// The message for a look-alike in place of a sign.
pub fn explained(c: char) -> String {
    let name = called(c);
    match meant(c) {
        Some("") => format!("this is the invisible character {name}: remove it"),
        Some(" ") => format!("this looks like a space, but it is {name}: write a space"),
        Some("\n") => format!("this looks like a line break, but it is {name}: start a new line"),
        Some(sign @ ("\"" | "'")) => {
            format!("this looks like the quote {sign}, but it is {name}: write {sign}")
        }
        Some(sign) => format!("this looks like \"{sign}\", but it is {name}: write \"{sign}\""),
        None => name,
    }
}

/// `text` with characters made visible that are invisible or look like a space.
pub fn shown(text: &str) -> String {
    let is_odd = |c: char| matches!(meant(c), Some(" " | "" | "\n"));
    if text.is_ascii() || !text.contains(is_odd) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut before = None;
    for c in text.chars() {
        if is_odd(c) && !hidden::is_fine(c, before) {
            out.push_str(&format!("<U+{:04X}>", u32::from(c)));
            before = None;
        } else {
            out.push(c);
            before = Some(c);
        }
    }
    out
}
