//! Properties that hold for every text. The fuzz targets run the same functions (`fuzz/fuzz_targets`).

use superpower::assist::{self, FactNow, Project, Worker};
use superpower::check::{Checked, Context, check, check_bytes};
use superpower::condition;
use superpower::declaration::chunks::Chunks;
use superpower::declaration::model::{Declaration, InputKind, Stage};
use superpower::declaration::patch::Patched;
use superpower::declaration::yaml::{self, Stop, Tree};
use superpower::diagnostic::Severity;
use superpower::plan::Plan;
use superpower::source::{Source, Span};
use superpower::template::{self, Variable};

/// The project that a fuzzed declaration is checked against.
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

/// Any bytes as a declaration.
pub fn bytes_are_checked(bytes: &[u8]) -> Checked {
    let checked = check_bytes(bytes, &context());
    let mut last = Span::default();
    for diagnostic in &checked.diagnostics {
        sound(&checked.source, diagnostic.span, &diagnostic.message);
        assert!(diagnostic.span >= last, "in the order of the text");
        last = diagnostic.span;
        assert!(
            !diagnostic.message.starts_with("internal error: this file cannot be run"),
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
        it_runs(declaration);
    }
    checked
}

/// Parsing only the changed parts after an edit gives the same result as parsing everything.
pub fn edits_are_followed(text: &str) {
    let whole = |text: &Patched| {
        let (tree, stop) = yaml::read(text);
        seen(&tree, stop.as_ref())
    };
    let mut chunks = Chunks::for_texts_of(0);
    let mut others = vec![text.to_owned()];
    let middle = text.match_indices('\n').map(|(at, _)| at + 1).nth(text.matches('\n').count() / 2);
    others.extend(middle.map(|middle| text[middle..].to_owned()));
    others.extend(middle.map(|middle| text[..middle].to_owned()));
    others.extend(middle.map(|middle| text.replacen(&text[middle..], "  - agent: qa\n    gate:\n", 1)));
    others.push(text.replacen(": ", ": x", 1));
    others.push(format!("{text}  - agent: qa\n"));
    others.push(text.to_owned());
    for other in others {
        let mut patched = Patched::new(other.as_str());
        for _ in 0..2 {
            let (tree, stop, _) = chunks.read(&patched);
            let (here, there) = (seen(&tree, stop.as_ref()), whole(&patched));
            let differs = here.iter().zip(&there).find(|(here, there)| here != there);
            assert!(here == there, "{:?}: {differs:?}", patched.text());
            // A corrected copy, whose positions differ.
            let at = patched.text().find("agent").unwrap_or(0);
            patched = patched.replace(at, at, "x-");
        }
    }
}

fn seen(tree: &Tree, stop: Option<&Stop>) -> Vec<String> {
    let rest =
        (tree.root(), tree.expanded, tree.cut, tree.second_document, &tree.lost_aliases, tree.too_deep);
    let nodes = tree.nodes().map(|node| format!("{node:?}"));
    let whole = format!("{:?} {rest:?}", stop.map(|stop| (stop.offset, stop.error.to_string())));
    nodes.chain([whole]).collect()
}

/// A declaration that the checker accepts can be run: every value, fact and result that it uses exists.
fn it_runs(declaration: &Declaration) {
    let given =
        declaration.inputs.iter().filter(|input| input.required && input.default.is_none()).map(|input| {
            let value = match &input.kind {
                InputKind::String => "x".to_owned(),
                InputKind::Bool => "true".to_owned(),
                InputKind::Enum(values) => values.first().expect("an enum has a value").value.clone(),
            };
            (input.name.value.clone(), value)
        });
    let plan = Plan::new(declaration.clone(), &given.collect()).expect("a plan");
    let input = |name: &str| {
        assert!(declaration.inputs.iter().any(|input| input.name.value == name), "no input {name}");
        plan.inputs.get(name).cloned().unwrap_or_default()
    };
    for &stage in &plan.order {
        let declared = plan.stage(stage);
        assert!(declared.action.is_some() || declared.gate.is_some(), "a stage does something");
        if let Some(when) = plan.when(stage) {
            let evaluation = condition::eval(when, &input, &|_| Some(true));
            assert!(matches!(evaluation, condition::Evaluation::Known(_)));
        }
        let earlier = |name: &str| {
            let named = |stage: &Stage| stage.name.as_ref().is_some_and(|own| own.value == name);
            let number = name.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            let at = declaration.stages.iter().position(named).or(number).expect("a stage of this name");
            assert!(plan.rank(at) < plan.rank(stage), "{name} runs before stage {}", stage + 1);
        };
        declared.rework.iter().for_each(|rework| earlier(&rework.value));
        for name in &declared.depends_on {
            earlier(&name.value);
        }
        let expects =
            declared.expects.iter().flat_map(|expects| expects.files.iter().chain(&expects.verdict));
        let values = declared.inputs.iter().map(|(_, value)| value);
        for text in declared.description.iter().chain(values).chain(expects) {
            template::render(&text.value, &|variable| {
                match variable {
                    Variable::Input(name) => drop(input(name)),
                    Variable::StageResult(name) => earlier(name),
                }
                Some(String::new())
            });
        }
    }
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

/// Any position in any text. `part` is the position, in 1/65536 of the text's length.
pub fn place_is_assisted(text: &str, part: u16) {
    let checked = check(text, &context());
    let source = &checked.source;
    let mut at = text.len() * usize::from(part) / 65_535;
    // A cursor is never inside of a character, or between CR and LF.
    while !text.is_char_boundary(at) || text[..at].ends_with('\r') {
        at -= 1;
    }
    let worker = Worker { name: "qa".to_owned(), ..Worker::default() };
    let project = Project {
        agents: vec![worker.clone()],
        skills: vec![worker],
        facts: vec![FactNow { name: "story.ui_true".to_owned(), now: Some((true, "so".to_owned())) }],
        ..Project::default()
    };
    for offer in assist::complete(&checked, at, &project) {
        sound(source, offer.edit.span, &offer.label);
        assert_eq!(offer.edit.span.end, at, "what is behind the cursor stays: {offer:?}");
        assert!(!text[offer.edit.span.start..at].contains('\n'), "only the cursor's line changes: {offer:?}");
    }
    if let Some(hover) = assist::hover(&checked, at, &project) {
        sound(source, hover.span, &hover.text);
    }
    for occurrence in assist::occurrences(&checked) {
        sound(source, occurrence.span, occurrence.entity.name());
    }
    for span in assist::references(&checked, at, true) {
        sound(source, span, "reference");
    }
    if let Some((span, name)) = assist::prepare_rename(&checked, at) {
        sound(source, span, &name);
        let edits = assist::rename(&checked, at, "zz-top").unwrap_or_default();
        let mut spans: Vec<Span> = edits.iter().map(|edit| edit.span).collect();
        spans.sort_unstable();
        assert!(spans.windows(2).all(|pair| pair[0].end <= pair[1].start), "edits overlap: {edits:?}");
    }
    for symbol in assist::symbols(&checked) {
        sound(source, symbol.span, &symbol.name);
        let (span, own) = (symbol.span, symbol.selection);
        assert!(
            span.start <= own.start && own.end <= span.end,
            "an editor refuses a name outside of its symbol"
        );
    }
    let _ = assist::definition(&checked, at, &project);
    let _ = assist::actions(&checked, Span::new(at, at));
}
