//! Tests of the lenient reader: forms of JSON, positions of errors, objects in other text.

use super::*;
use serde_json::json;

#[test]
fn understandable_json_is_read() {
    let same = |text: &str, value: Value| assert_eq!(super::value(text, FILE), Ok(value), "{text:?}");
    same("\u{feff}{\"a\": 1}\r\n", json!({"a": 1}));
    same("{\u{200b}\"a\":\u{a0}[1, 2,],}", json!({"a": [1, 2]}));
    same("{\"a\": \"x\ty\u{1}\"}", json!({"a": "x\ty\u{1}"}));
    same(r#"{"a": "\ud83d x \ude00", "b": "\ud83d\ude00"}"#, json!({"a": "\u{fffd} x \u{fffd}", "b": "😀"}));
    same(r#"{"a": "C:\dir \u12 \+"}"#, json!({"a": "C:\\dir \\u12 \\+"}));
    same("{\"a\": 1, \"a\": 2,}", json!({"a": 2}));
    same("{\"a\": NaN, \"b\": -Infinity}", json!({"a": null, "b": null}));
    same("\u{1b}[32m{\u{1b}[1m\"a\"\u{1b}[0m: true}\u{1b}[0m", json!({"a": true}));
    same("{\"a\": 1}\n\0\0\0", json!({"a": 1}));
    let huge = "9".repeat(400);
    assert_eq!(super::value(&format!("{{\"a\": {huge},}}"), FILE).unwrap()["a"].to_string(), huge);
    let commented = "// one\n{\"a\": 1, /* two */ \"b\": 2} // three";
    assert_eq!(super::value(commented, SETTINGS), Ok(json!({"a": 1, "b": 2})));
    assert!(super::value(commented, FILE).is_err());
}

#[test]
fn errors_have_a_line_and_a_column() {
    let damage = |text: &str| super::value(text, FILE).unwrap_err().to_string();
    assert_eq!(damage("{\"a\": 1,\n \"b\": }"), "a value is missing, at line 2, column 7");
    assert_eq!(damage("{\"a\": [1, 2"), "unexpected end, at line 1, column 12");
    assert_eq!(damage("{\"ä\": \"x"), "unexpected end, at line 1, column 9");
    assert_eq!(damage(""), "unexpected end, at line 1, column 1");
    assert_eq!(damage("{\"a\": 1} {\"b\": 2}"), "unexpected text after its end, at line 1, column 10");
    assert_eq!(damage("{a: 1}"), "a key in quotes is missing, at line 1, column 2");
    assert_eq!(damage("{\"a\" 1}"), "a colon is missing, at line 1, column 6");
    assert_eq!(damage("[1,,2]"), "a value is missing, at line 1, column 4");
    assert_eq!(damage("[1 2]"), "a comma is missing, at line 1, column 4");
    assert!(damage(&"[".repeat(200)).starts_with("it is nested too deeply"));
    for number in ["01", "1.", ".5", "+1", "1e", "--1", "0x1"] {
        assert!(super::value(&format!("[{number}]"), FILE).is_err(), "{number}");
    }
}

#[test]
fn deep_nesting_reads_as_null_in_events_and_prose() {
    let text = format!("{{\"a\": {}1{}, \"b\": 2}}", "[".repeat(100_000), "]".repeat(100_000));
    let read = super::value(&text, EVENT).unwrap();
    assert_eq!(read["b"], 2);
    let objects = format!("{}1{}", "{\"x\":".repeat(500), "}".repeat(500));
    assert!(super::value(&objects, EVENT).is_ok());
}

#[test]
fn objects_are_found_among_other_text() {
    let found = |text: &str| {
        let (found, torn) = objects(text, EVENT);
        (found.into_iter().map(|it| it.json).collect::<Vec<_>>(), torn.map(|it| it.column))
    };
    assert_eq!(found("\u{1b}]0;t\u{7}{\"a\":1} bye"), (vec!["{\"a\":1}".to_owned()], None));
    assert_eq!(found("a {x} {} {\"b\":{\"c\":1}}{\"d\":2}").0, ["{}", "{\"b\":{\"c\":1}}", "{\"d\":2}"]);
    assert_eq!(found("log: {\"a\":{\"b\":1}"), (vec![], Some(6)), "a truncated object is not searched");
    assert_eq!(found("fn f() { {\"a\":1}"), (vec!["{\"a\":1}".to_owned()], None));
    // A text that is built to be slow must not take forever.
    let hostile = "{\"a\":[".repeat(200_000) + "!";
    assert_eq!(found(&hostile).0, Vec::<String>::new());
}

#[test]
fn the_outline_of_a_truncated_object_has_its_first_keys() {
    let torn = r#"x {"duration_ms":7,"usage":{"type":"no"},"type":"result","result":"long"#;
    let outline = outline(torn);
    let keys: Vec<&str> = outline.iter().map(|(key, _)| &**key).collect();
    assert_eq!(keys, ["duration_ms", "usage", "type", "result"]);
    assert_eq!(outline[2].1.as_deref(), Some("result"));
    assert_eq!(outline[1].1, None);
}

#[test]
fn any_text_gives_a_value_or_an_error() {
    use proptest::prelude::*;
    proptest!(|(text in r#"[\[\]{}",:\\ux0-9a-f\n\u{1b}*/ -]{0,80}"#)| {
        for door in [FILE, SETTINGS, EVENT, PROSE] {
            let _ = value(&text, door);
            if let Ok(json) = strict(&text, door) {
                prop_assert!(serde_json::from_str::<Value>(&json).is_ok(), "{text:?} became {json:?}");
            }
            for object in objects(&text, door).0 {
                prop_assert!(serde_json::from_str::<Value>(&object.json).is_ok(), "{text:?} has {:?}", object.json);
            }
            let _ = (outline(&text), bare(&text));
        }
    });
}
