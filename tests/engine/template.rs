//! Templates: variables are replaced once, and everything else stays.

use superpower::template::{Variable, parse, render};

fn filled(text: &str) -> String {
    render(text, &|variable| match variable {
        Variable::Input(name) => match name.as_str() {
            "a" => Some("1".to_owned()),
            "braces" => Some("{{a}}".to_owned()),
            _ => None,
        },
        Variable::StageResult(name) => Some(format!("result of {name}")),
    })
}

#[test]
fn variables_are_replaced_once() {
    assert_eq!(filled("{{a}}-{{ a }}-{{braces}}"), "1-1-{{a}}");
    assert_eq!(filled("{{stages.plan.result}} {{stages.2.result}}"), "result of plan result of 2");
    assert_eq!(filled("{{unknown}} {{a"), "{{unknown}} {{a");
    assert_eq!(filled("{{{{a}}}}"), "{{1}}");
    assert_eq!(filled(""), "");
}

#[test]
fn invalid_braces_are_reported_at_their_position() {
    for (text, at) in [
        ("x {{a", "{{a"),
        ("x {{a} y", "{{a}"),
        ("x {{a y}} z", "{{a y}}"),
        ("{{}}", "{{}}"),
        ("{{stages.plan}}", "{{stages.plan}}"),
        ("{{inputs.a}}", "{{inputs.a}}"),
        ("{{a {{b}}", "{{a"),
    ] {
        let (_, errors) = parse(text);
        assert_eq!(errors.len(), 1, "{text}: {errors:?}");
        assert_eq!(&text[errors[0].span.start..errors[0].span.end], at, "{text}");
    }
    assert!(parse("a { b } }} c").1.is_empty());
}
