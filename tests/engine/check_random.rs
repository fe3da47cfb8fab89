//! Texts that nobody would write, thousands of them.

use crate::check_fixtures::fixtures;
use crate::invariants::{bytes_are_checked, condition_is_parsed, place_is_assisted, template_is_rendered};
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Pieces that YAML, conditions and templates are sensitive to.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    const KNOWN: &[&str] = &[
        "\n",
        "  ",
        "- ",
        ": ",
        "#",
        " #",
        "\"",
        "'",
        "[",
        "]",
        "{",
        "}",
        "{{",
        "}}",
        "|\n",
        ">\n",
        "&a ",
        "*a",
        "!t ",
        "\t",
        "\r\n",
        "---\n",
        "<<: ",
        "~",
        "null",
        "true",
        "1.0",
        "é",
        "𝄞",
        "\u{feff}",
        "\u{a0}",
        "\0",
        "\\u00e9",
        "\\",
        "%",
        "@",
        ",",
        "&&",
        "||",
        "==",
        "!=",
        "(",
        ")",
        "name",
        "stages:\n",
        "gate",
        "when: ",
        "{{epic}}",
        "{{stages.1.result}}",
        "depends_on: [",
        "story.ui_true",
        "inputs:\n",
        "  - agent: a\n",
    ];
    prop_oneof![4 => select(KNOWN).prop_map(|text| text.as_bytes().to_vec()), 1 => any::<Vec<u8>>().prop_map(|mut bytes| { bytes.truncate(3); bytes })]
}

/// Bytes that are shown as text where a test fails.
#[derive(Clone)]
struct Shown(Vec<u8>);

impl std::fmt::Debug for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", String::from_utf8_lossy(&self.0))
    }
}

fn mutated() -> impl Strategy<Value = Shown> {
    let all: Vec<Vec<u8>> =
        fixtures().into_iter().map(|(_, bytes, _)| bytes).filter(|bytes| bytes.len() < 4_000).collect();
    let change = (any::<Index>(), any::<Index>(), piece());
    (select(all), prop::collection::vec(change, 1..6)).prop_map(|(mut bytes, changes)| {
        for (at, length, piece) in changes {
            let start = at.index(bytes.len() + 1);
            let end = (start + length.index(12)).min(bytes.len());
            bytes.splice(start..end, piece);
        }
        Shown(bytes)
    })
}

fn words() -> impl Strategy<Value = String> {
    prop::collection::vec(piece(), 0..14)
        .prop_map(|pieces| String::from_utf8_lossy(&pieces.concat()).into_owned())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn changed_fixtures_are_checked_soundly(bytes in mutated(), part: u16) {
        let bytes = bytes.0;
        bytes_are_checked(&bytes);
        place_is_assisted(&String::from_utf8_lossy(&bytes), part);
    }

    #[test]
    fn loose_pieces_are_checked_soundly(text in words(), part: u16) {
        place_is_assisted(&text, part);
        bytes_are_checked(text.as_bytes());
        condition_is_parsed(&text);
        template_is_rendered(&text);
    }
}
