//! The scanner: converts one value of a lenient text to strict JSON, without recursion.

use super::door::{Door, MAX_DEPTH};
use super::hidden::{is_invisible, sequence};

/// Length limit of a string in an outline.
const MAX_OUTLINE: usize = 200;

/// The error for a text that ends too early.
const UNEXPECTED_END: &str = "unexpected end";

/// The scanner's position in a text, and its output so far.
pub(super) struct Scan<'a> {
    text: &'a str,
    /// The position; on an error, the position of the error.
    pub at: usize,
    pub out: String,
    door: Door,
    /// The open brackets: `{` or `[`.
    open: Vec<u8>,
    /// The length of the output and the level where the nesting limit was exceeded.
    deep: Option<(usize, usize)>,
    /// Whether the outermost object has a key; without one, the brace may not begin an object.
    pub has_key: bool,
    /// Keys of the outermost object, with string values.
    pub outline: Option<Vec<(String, Option<String>)>>,
}

/// What may come next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Want {
    Value,
    ValueOrEnd,
    KeyOrEnd,
    Colon,
    CommaOrEnd,
}

/// Skips what has no meaning: all kinds of white space, invisible characters, terminal sequences, and what the door
/// accepts.
pub(super) fn blank(text: &str, mut at: usize, door: Door) -> usize {
    while let Some(letter) = text[at..].chars().next() {
        if let Some(end) = sequence(text, at) {
            at = end;
        } else if letter.is_whitespace() || (is_invisible(letter)) || (letter.is_control() && letter != '\0')
        {
            at += letter.len_utf8();
        } else if door.markdown && matches!(letter, '*' | '`') {
            at += 1;
        } else if door.comments && text[at..].starts_with("//") {
            at = text[at..].find('\n').map_or(text.len(), |end| at + end);
        } else if door.comments && text[at..].starts_with("/*") {
            at = text[at..].find("*/").map_or(text.len(), |end| at + end + 2);
        } else {
            break;
        }
    }
    at
}

impl<'a> Scan<'a> {
    pub fn new(text: &'a str, at: usize, door: Door) -> Self {
        let (out, open) = (String::new(), Vec::new());
        Self { text, at, out, door, open, deep: None, has_key: false, outline: None }
    }

    /// Reads one value and stops after it.
    pub fn value(&mut self) -> Result<(), &'static str> {
        let mut want = Want::Value;
        loop {
            self.at = blank(self.text, self.at, self.door);
            let Some(&byte) = self.text.as_bytes().get(self.at) else { return Err(UNEXPECTED_END) };
            want = match (want, byte) {
                (Want::ValueOrEnd | Want::CommaOrEnd, b']') if self.open.last() == Some(&b'[') => {
                    self.close()
                }
                (Want::KeyOrEnd | Want::CommaOrEnd, b'}') if self.open.last() == Some(&b'{') => self.close(),
                (Want::Value | Want::ValueOrEnd, b'{' | b'[') => {
                    self.note_value(None);
                    self.enter(byte)?
                }
                (Want::Value | Want::ValueOrEnd, b'"') => {
                    let text = self.string()?;
                    self.note_value(Some(text));
                    Want::CommaOrEnd
                }
                (Want::Value | Want::ValueOrEnd, _) => {
                    self.note_value(None);
                    self.word()?
                }
                (Want::KeyOrEnd, b'"') => {
                    let key = self.string()?;
                    self.key(key);
                    Want::Colon
                }
                (Want::KeyOrEnd, _) => return Err("a key in quotes is missing"),
                (Want::Colon, b':') => self.sign(byte, Want::Value),
                (Want::Colon, _) => return Err("a colon is missing"),
                (Want::CommaOrEnd, b',') if self.open.last() == Some(&b'{') => {
                    self.sign(byte, Want::KeyOrEnd)
                }
                (Want::CommaOrEnd, b',') => self.sign(byte, Want::ValueOrEnd),
                (Want::CommaOrEnd, _) => return Err("a comma is missing"),
            };
            if self.open.is_empty() && want == Want::CommaOrEnd {
                return Ok(());
            }
        }
    }

    fn sign(&mut self, byte: u8, next: Want) -> Want {
        self.out.push(char::from(byte));
        self.at += 1;
        next
    }

    fn enter(&mut self, byte: u8) -> Result<Want, &'static str> {
        if self.open.len() >= MAX_DEPTH && self.deep.is_none() {
            if !self.door.cut_deep {
                return Err("it is nested too deeply");
            }
            self.deep = Some((self.out.len(), self.open.len()));
        }
        self.open.push(byte);
        Ok(self.sign(byte, if byte == b'{' { Want::KeyOrEnd } else { Want::ValueOrEnd }))
    }

    fn close(&mut self) -> Want {
        if self.out.ends_with(',') {
            self.out.pop();
        }
        let end = if self.open.pop() == Some(b'{') { b'}' } else { b']' };
        let want = self.sign(end, Want::CommaOrEnd);
        if let Some((len, _)) = self.deep.take_if(|(_, level)| *level == self.open.len()) {
            self.out.truncate(len);
            self.out.push_str("null");
        }
        want
    }

    /// A number, or one of the three words.
    fn word(&mut self) -> Result<Want, &'static str> {
        let rest = &self.text[self.at..];
        let more = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
        let word = &rest[..rest.find(|c| !more(c)).unwrap_or(rest.len())];
        match word {
            "true" | "false" | "null" => self.out.push_str(word),
            "NaN" | "Infinity" | "-Infinity" => self.out.push_str("null"),
            _ if is_number(word) => self.out.push_str(word),
            // A truncated word may have been any word.
            _ if word.len() == rest.len() => {
                self.at = self.text.len();
                return Err(UNEXPECTED_END);
            }
            _ => return Err("a value is missing"),
        }
        self.at += word.len();
        Ok(Want::CommaOrEnd)
    }

    /// Reads a string with its quotes, if one begins here. Returns its position in the output.
    fn string(&mut self) -> Result<usize, &'static str> {
        let begin = self.out.len();
        self.out.push('"');
        self.at += 1;
        loop {
            let rest = &self.text[self.at..];
            let plain = rest.find(|c: char| c < ' ' || matches!(c, '"' | '\\')).unwrap_or(rest.len());
            self.out.push_str(&rest[..plain]);
            self.at += plain;
            match rest.as_bytes().get(plain) {
                None => return Err(UNEXPECTED_END),
                Some(b'"') => {
                    self.sign(b'"', Want::Colon);
                    return Ok(begin);
                }
                Some(b'\\') => self.escape(),
                Some(control) => {
                    self.out.push_str(&format!("\\u{control:04x}"));
                    self.at += 1;
                }
            }
        }
    }

    fn escape(&mut self) {
        let rest = &self.text[self.at..];
        let unit = |at: usize| {
            let digits = rest.get(at..at + 6)?.strip_prefix("\\u")?;
            u16::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+'))
        };
        match (rest.as_bytes().get(1), unit(0)) {
            (_, Some(0xd800..=0xdbff)) if matches!(unit(6), Some(0xdc00..=0xdfff)) => self.copy(12),
            (_, Some(0xd800..=0xdfff)) => {
                self.out.push('\u{fffd}');
                self.at += 6;
            }
            (_, Some(_)) => self.copy(6),
            (Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't'), None) => self.copy(2),
            // An unknown escape: the backslash is meant literally.
            (_, None) => {
                self.out.push_str("\\\\");
                self.at += 1;
            }
        }
    }

    fn copy(&mut self, len: usize) {
        self.out.push_str(&self.text[self.at..self.at + len]);
        self.at += len;
    }

    fn key(&mut self, begin: usize) {
        if self.open.len() != 1 {
            return;
        }
        self.has_key = true;
        if let Some(outline) = &mut self.outline {
            outline.push((read(&self.out[begin..]).unwrap_or_default(), None));
        }
    }

    /// Notes a value of the outermost object; `text` is the position of a string in the output.
    fn note_value(&mut self, text: Option<usize>) {
        if let (1, Some(outline), Some(begin)) = (self.open.len(), &mut self.outline, text)
            && let Some((_, value)) = outline.last_mut()
        {
            *value = Some(&self.out[begin..]).filter(|text| text.len() <= MAX_OUTLINE).and_then(read);
        }
    }
}

fn read(quoted: &str) -> Option<String> {
    serde_json::from_str(quoted).ok()
}

/// Whether a word is a JSON number.
fn is_number(word: &str) -> bool {
    let digits = |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let rest = word.strip_prefix('-').unwrap_or(word);
    let whole = if rest.starts_with('0') { 1 } else { digits(rest) };
    let mut rest = &rest[whole..];
    if let Some(fraction) = rest.strip_prefix('.') {
        let len = digits(fraction);
        if len == 0 {
            return false;
        }
        rest = &fraction[len..];
    }
    if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        let len = digits(exponent);
        if len == 0 {
            return false;
        }
        rest = &exponent[len..];
    }
    whole > 0 && rest.is_empty()
}
