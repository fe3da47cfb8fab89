//! How invisible characters and characters that change the reading direction are shown.

use regex::Regex;
use superpower::hidden;
use superpower::terminal::visible;

/// All characters that are invisible by default according to Unicode, or that change the direction of text.
fn unseen() -> Vec<char> {
    let unseen =
        Regex::new(r"^[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Cc}\p{Zl}\p{Zp}]$").unwrap();
    let mut buffer = [0; 4];
    ('\0'..=char::MAX).filter(|c| unseen.is_match(c.encode_utf8(&mut buffer))).collect()
}

#[test]
fn every_character_that_unicode_calls_ignorable_or_bidirectional_is_shown() {
    let all = unseen();
    assert!(all.len() > 4_000, "{}", all.len());
    for c in all {
        for text in [c.to_string(), format!("a{c}b"), format!(" {c}"), format!("é{c}{c}")] {
            let shown = visible(&text);
            assert!(!shown.contains(c), "{:04X} in {shown:?}", u32::from(c));
        }
    }
    assert_eq!(visible("a\u{200b}b\u{e0041}\u{ad}"), "a<200b>b<e0041><00ad>");
}

#[test]
fn the_table_contains_no_visible_character() {
    let seen = Regex::new(r"^[\p{L}\p{N}\p{P}\p{S}\p{Zs}]$").unwrap();
    let fillers = ['\u{115f}', '\u{1160}', '\u{3164}', '\u{ffa0}'];
    let mut buffer = [0; 4];
    for c in ('\0'..=char::MAX).filter(|c| hidden::name(*c).is_some() && !fillers.contains(c)) {
        assert!(!seen.is_match(c.encode_utf8(&mut buffer)), "{:04X}", u32::from(c));
    }
}

#[test]
fn parts_of_emoji_and_words_are_unchanged() {
    for text in [
        "❤\u{fe0f}",
        "1\u{fe0f}\u{20e3}",
        "👩\u{200d}💻",
        "🏳\u{fe0f}\u{200d}🌈",
        "می\u{200c}خواهم",
        "葛\u{e0100}",
        "क\u{94d}\u{200d}ष",
    ] {
        assert_eq!(visible(text), text);
    }
    // A character that does not belong to its neighbours is shown, and so is a second one after the first.
    assert_eq!(visible("a\u{fe0f}"), "a<fe0f>");
    assert_eq!(visible("❤\u{fe0f}\u{fe01}\u{e0121}"), "❤\u{fe0f}<fe01><e0121>");
    assert_eq!(visible("pass\u{200c}word"), "pass<200c>word");
    assert_eq!(visible("\u{200d}💻"), "<200d>💻");
}
