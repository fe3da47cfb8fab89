//! Conditions: which parse, their values, and which facts they need.

use superpower::condition::{Evaluation, eval, facts_in, parse};

fn value(name: &str) -> String {
    match name {
        "scope" => "tokens only",
        "my-flag" => "true",
        "off" => "false",
        _ => "",
    }
    .to_owned()
}

fn known(text: &str) -> bool {
    match eval(&parse(text).unwrap(), &value, &|_| None) {
        Evaluation::Known(known) => known,
        Evaluation::Needs(fact) => panic!("{text} needs {fact}"),
    }
}

#[test]
fn values_compare_as_text() {
    assert!(known("{{scope}} == \"tokens only\"") && known("{{ scope }}=='tokens only'"));
    assert!(!known("{{scope}} == tokens") && known("{{scope}} != tokens"));
    assert!(known("{{my-flag}} == true") && known("{{my-flag}}") && known("true == {{my-flag}}"));
    assert!(!known("{{off}}") && !known("{{missing}}") && known("{{missing}} == \"\""));
    assert!(known("{{scope}} == {{scope}}") && known("always") && !known("never"));
    assert!(known("not never and !(never or never)") && known("never || always && always"));
    assert!(!known("(never || always) && never"));
}

#[test]
fn a_fact_is_needed_only_if_evaluation_reaches_it() {
    let ask = |text: &str, facts: &[(&str, bool)]| {
        let find = |name: &str| facts.iter().find(|(fact, _)| *fact == name).map(|(_, known)| *known);
        eval(&parse(text).unwrap(), &value, &find)
    };
    let text = "story.ui_true && branch.not_spike";
    assert_eq!(ask(text, &[]), Evaluation::Needs("story.ui_true".to_owned()));
    assert_eq!(ask(text, &[("story.ui_true", true)]), Evaluation::Needs("branch.not_spike".to_owned()));
    assert_eq!(ask(text, &[("story.ui_true", false)]), Evaluation::Known(false));
    assert_eq!(ask("{{my-flag}} || story.ui_true", &[]), Evaluation::Known(true));
    assert_eq!(ask("ui:false", &[("story.ui_true", true)]), Evaluation::Known(false));
    assert_eq!(ask("!a.b", &[("a.b", false)]), Evaluation::Known(true));
    assert_eq!(
        facts_in(&parse("a || b && (a || !c) || always || ui:true").unwrap()),
        ["a", "b", "c", "story.ui_true"]
    );
}

#[test]
fn an_invalid_condition_is_refused_at_the_offending_token() {
    for (text, at) in [
        ("", ""),
        ("  ", "  "),
        ("{{scope}} == full story.ui_true", "story.ui_true"),
        ("{{scope}} = full", "="),
        ("{{scope", "{{scope"),
        ("{{scope} == full", "{{scope}"),
        ("{scope} == full", "{scope}"),
        ("ui: true", "ui: true"),
        ("{{scope}} ==", "=="),
        ("== full", "=="),
        ("a && ", ""),
        ("a && || b", "||"),
        ("(a", "("),
        ("a)", ")"),
        ("a & b", "&"),
        ("\"full", "\"full"),
        ("\"full\"", "\"full\""),
        ("story.ui_true == true", "story.ui_true == true"),
        ("a == b", "a == b"),
        ("{{a}} == b == c", "=="),
        ("a AND b", "AND"),
        ("{{stages.x.result}}", "{{stages.x.result}}"),
        ("{{1x}} == a", "{{1x}}"),
        ("{{a}} > 3", ">"),
        ("()", ")"),
    ] {
        let error = parse(text).unwrap_err();
        assert_eq!(&text[error.span.start..error.span.end], at, "{text}: {}", error.message);
    }
}

#[test]
fn nesting_is_bounded() {
    let deep = |depth: usize| format!("{}a{}", "(".repeat(depth), ")".repeat(depth));
    assert!(parse(&deep(64)).is_ok());
    assert!(parse(&deep(65)).is_err() && parse(&deep(100_000)).is_err());
    assert!(parse(&format!("{}a", "!".repeat(100_000))).is_err());
    assert!(parse(&vec!["a"; 10_000].join(" && ")).is_ok());
}

#[test]
fn a_formatted_condition_parses_to_itself() {
    for (text, shown) in [
        ("a and b or not c", "a && b || !c"),
        ("(a or b) and c", "(a || b) && c"),
        ("!({{x}} == 'y z')", "!({{x}} == \"y z\")"),
        ("ui:false", "!story.ui_true"),
        ("{{x}} != ''", "{{x}} != \"\""),
        ("{{x}} == 'say \"hi\"'", "{{x}} == 'say \"hi\"'"),
        ("{{x}} == 'and'", "{{x}} == \"and\""),
    ] {
        assert_eq!(parse(text).unwrap().to_string(), shown);
    }
}
