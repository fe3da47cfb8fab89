//! What holds for every text whatsoever. The fuzz targets run the same bodies (`fuzz/fuzz_targets`).

use superpower::check::{Checked, Context, check, check_bytes};
use superpower::condition;
use superpower::diagnostic::Severity;
use superpower::source::{Source, Span};
use superpower::template;

/// What a fuzzed declaration is checked against.
pub fn context() -> Context {
    Context {
        agents: Some(vec!["qa".to_owned(), "spec-kit".to_owned(), "orchestrator".to_owned()]),
        skills: Some(vec!["gherkin-authoring".to_owned()]),
        facts: vec!["story.has_api".to_owned()],
        ..Context::default()
    }
}

fn sound(source: &Source, span: Span, what: &str) {
    let text = source.text();
    assert!(span.start <= span.end && span.end <= text.len(), "{what}: {span:?} of {}", text.len());
    assert!(
        text.is_char_boundary(span.start) && text.is_char_boundary(span.end),
        "{what}: {span:?} cuts a character"
    );
}

/// Any bytes at all.
pub fn bytes_are_checked(bytes: &[u8]) -> Checked {
    let checked = check_bytes(bytes, &context());
    let mut last = Span::default();
    for diagnostic in &checked.diagnostics {
        sound(&checked.source, diagnostic.span, &diagnostic.message);
        assert!(diagnostic.span >= last, "in the order of the text");
        last = diagnostic.span;
        assert!(
            !diagnostic.message.contains("no rule names"),
            "a rule is missing: {:?}",
            checked.source.text()
        );
        for related in &diagnostic.related {
            sound(&checked.source, related.span, &related.message);
        }
        let mut edits = diagnostic.fix.as_ref().map(|fix| fix.edits.clone()).unwrap_or_default();
        edits.sort_by_key(|edit| edit.span);
        for edit in &edits {
            sound(&checked.source, edit.span, &diagnostic.message);
        }
        assert!(
            edits.windows(2).all(|pair| pair[0].span.end <= pair[1].span.start),
            "edits overlap: {edits:?}"
        );
    }
    let errors = checked.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    assert_eq!(checked.declaration.is_none(), errors, "runnable exactly if without an error");
    if let Some(declaration) = &checked.declaration {
        let mut order = declaration.order();
        order.sort_unstable();
        assert!(order.into_iter().eq(0..declaration.stages.len()), "every stage runs, once");
        let again = check(checked.source.text(), &context());
        assert_eq!(again.declaration.as_ref(), Some(declaration), "the same text is the same declaration");
    }
    checked
}

/// Any text as a condition.
pub fn condition_is_parsed(text: &str) {
    match condition::parse(text) {
        Err(error) => sound(&Source::new(text), error.span, &error.message),
        Ok(expr) => {
            let shown = expr.to_string();
            let again = condition::parse(&shown)
                .unwrap_or_else(|error| panic!("{text:?} is shown as {shown:?}: {error:?}"));
            assert_eq!(again.to_string(), shown, "what is shown reads back as itself");
            for known in [false, true] {
                let value = |name: &str| name.to_owned();
                let one = condition::eval(&expr, &value, &|_| Some(known));
                assert_eq!(one, condition::eval(&again, &value, &|_| Some(known)), "{text:?} and {shown:?}");
                assert!(
                    matches!(one, condition::Evaluation::Known(_)),
                    "nothing more is needed once every fact is known"
                );
            }
        }
    }
}

/// Any text as a template.
pub fn template_is_rendered(text: &str) {
    let source = Source::new(text);
    let (places, errors) = template::parse(text);
    for place in &places {
        sound(&source, place.span, "variable");
        sound(&source, place.name, "name");
    }
    errors.iter().for_each(|error| sound(&source, error.span, &error.message));
    assert_eq!(template::render(text, &|_| None), text, "unknown variables stay as they are");
    let rendered = template::render(text, &|_| Some("{{x}}".to_owned()));
    assert!(places.is_empty() || rendered.contains("{{x}}"), "a value is not rendered again");
}
