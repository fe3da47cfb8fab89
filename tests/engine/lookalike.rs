//! The names of characters that look like YAML's punctuation.

use superpower::lookalike::{called, explained, meant, shown};

#[test]
fn each_look_alike_has_its_name_and_sign() {
    let rows = [
        ('\u{a0}', " ", "U+00A0 NO-BREAK SPACE"),
        ('\u{3000}', " ", "U+3000 IDEOGRAPHIC SPACE"),
        ('：', ":", "U+FF1A FULLWIDTH COLON"),
        ('，', ",", "U+FF0C FULLWIDTH COMMA"),
        ('、', ",", "U+3001 IDEOGRAPHIC COMMA"),
        ('［', "[", "U+FF3B FULLWIDTH LEFT SQUARE BRACKET"),
        ('｝', "}", "U+FF5D FULLWIDTH RIGHT CURLY BRACKET"),
        ('“', "\"", "U+201C LEFT DOUBLE QUOTATION MARK"),
        ('’', "'", "U+2019 RIGHT SINGLE QUOTATION MARK"),
        ('–', "-", "U+2013 EN DASH"),
        ('−', "-", "U+2212 MINUS SIGN"),
        ('•', "-", "U+2022 BULLET"),
        ('＃', "#", "U+FF03 FULLWIDTH NUMBER SIGN"),
        ('ａ', "a", "U+FF41 FULLWIDTH LATIN SMALL LETTER A"),
        ('Ｚ', "Z", "U+FF3A FULLWIDTH LATIN CAPITAL LETTER Z"),
        ('３', "3", "U+FF13 FULLWIDTH DIGIT THREE"),
        ('～', "~", "U+FF5E FULLWIDTH TILDE"),
        ('\u{2028}', "\n", "U+2028 LINE SEPARATOR"),
        ('\u{2029}', "\n", "U+2029 PARAGRAPH SEPARATOR"),
        ('\u{85}', "\n", "U+0085 NEXT LINE"),
        ('\u{200b}', "", "U+200B ZERO WIDTH SPACE"),
        ('\u{2060}', "", "U+2060 WORD JOINER"),
        ('\u{feff}', "", "U+FEFF BYTE ORDER MARK"),
    ];
    for (c, sign, name) in rows {
        assert_eq!((meant(c), called(c).as_str()), (Some(sign), name), "{c:?}");
        assert!(explained(c).contains(name), "{}", explained(c));
    }
    for c in ['a', ' ', '-', 'é', '专', 'к', '…', '«'] {
        assert_eq!(meant(c), None, "{c:?}");
    }
}

#[test]
fn invisible_characters_are_shown_in_messages() {
    assert_eq!(shown("unknown agent \"qa\u{a0}\u{200b}\""), "unknown agent \"qa<U+00A0><U+200B>\"");
    assert_eq!(shown("“a” – ❤\u{fe0f}"), "“a” – ❤\u{fe0f}");
}
