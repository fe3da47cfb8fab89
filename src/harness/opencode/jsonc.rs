//! JSON as OpenCode reads its configuration: with comments, and with commas before what closes.

/// The text as plain JSON; what stands in strings stays.
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if first == '"' {
            string(rest)
        } else if rest.starts_with("//") {
            rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
            continue;
        } else if let Some(inner) = rest.strip_prefix("/*") {
            rest = inner.find("*/").map_or("", |end| &inner[end + 2..]);
            continue;
        } else {
            first.len_utf8()
        };
        if matches!(first, '}' | ']') && out.trim_end().ends_with(',') {
            out.truncate(out.trim_end().len() - 1);
        }
        out.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    out
}

/// How long the string is that the text begins with.
fn string(text: &str) -> usize {
    let mut escaped = true;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::plain;
    use serde_json::{Value, json};

    #[test]
    fn comments_and_commas_go_and_strings_stay() {
        let text = "{ // a\n \"é//\": \"/* \\\" */,}\", /* b */ \"list\": [1, 2, /* c */ ], \"last\": {\"x\": 1,\n},\n}\n// end";
        let value: Value = serde_json::from_str(&plain(text)).unwrap();
        assert_eq!(value, json!({"é//": "/* \" */,}", "list": [1, 2], "last": {"x": 1}}));
        for odd in ["", "\"", "/", "/*", "//", "\"\\", ",]"] {
            plain(odd);
        }
    }
}
