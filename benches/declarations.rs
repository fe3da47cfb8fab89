//! How long a declaration takes: to check, and to answer at a place in it. Beside each figure what serde_yaml needs in
//! the same run to read the same text into values, without any place or rule: the ratio says more than the time.
//!
//! `cargo bench --no-default-features --bench declarations`

use std::io::Write;
use std::time::{Duration, Instant};
use superpower::assist::{self, Project};
use superpower::check::{Context, check, check_edited};
use superpower::declaration::chunks::Chunks;

fn main() {
    let small = flow(14);
    let large = flow(500);
    for (name, text) in [("14 stages", &small), ("2,000 lines", &large)] {
        let peer = times(300, || drop(serde_yaml::from_str::<serde_yaml::Value>(text)));
        figure(&format!("{name}: serde_yaml, for comparison"), &peer, None);
        figure(
            &format!("{name}: check"),
            &times(300, || drop(check(text, &Context::default()))),
            Some(&peer),
        );
        let mut chunks = Chunks::of_edited();
        let mut edited = 0;
        let after_an_edit = times(300, || {
            edited += 1;
            let text = text.replacen("PROBLEM", &format!("PROBLEM {edited}"), 1);
            drop(check_edited(&text, &Context::default(), usize::MAX, &mut chunks));
        });
        figure(&format!("{name}: check after an edit"), &after_an_edit, Some(&peer));
        let broken = text.replacen("description: \"", "description: Stage: ", 1);
        figure(
            &format!("{name}: check, broken"),
            &times(300, || drop(check(&broken, &Context::default()))),
            Some(&peer),
        );
        let (checked, project) = (check(text, &Context::default()), Project::default());
        let at = text.rfind("{{epic}}").unwrap_or(0) + 3;
        figure(
            &format!("{name}: completion"),
            &times(300, || drop(assist::complete(&checked, at, &project))),
            None,
        );
        figure(&format!("{name}: hover"), &times(300, || drop(assist::hover(&checked, at, &project))), None);
        figure(
            &format!("{name}: definition"),
            &times(300, || drop(assist::definition(&checked, at, &project))),
            None,
        );
    }
    for (name, text) in hostile() {
        let text = &text[..text.len().min(1 << 20)];
        figure(&format!("1 MiB of {name}"), &times(3, || drop(check(text, &Context::default()))), None);
    }
}

fn say(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

fn times(count: usize, mut work: impl FnMut()) -> Vec<Duration> {
    let mut all: Vec<Duration> = (0..count)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed()
        })
        .collect();
    all.sort_unstable();
    all
}

fn figure(name: &str, times: &[Duration], peer: Option<&Vec<Duration>>) {
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let median = times[times.len() / 2];
    let ratio = peer.map(|peer| format!(", {:.2} of serde_yaml", ms(median) / ms(peer[peer.len() / 2])));
    say(&format!(
        "{name:<40} median {:>8.3} ms, p99 {:>8.3} ms{}",
        ms(median),
        ms(times[times.len() * 99 / 100]),
        ratio.unwrap_or_default()
    ));
}

/// A declaration like the real ones, four lines a stage.
fn flow(stages: usize) -> String {
    let mut text = String::from(
        "name: flow\ndescription: One line\nversion: \"1.0.0\"\ninputs:\n  - name: epic\n    required: true\nstages:\n",
    );
    for stage in 0..stages {
        text.push_str(&format!(
            "  - agent: spec-kit\n    description: \"Stage {stage}: PROBLEM → SPEC → PLAN\"\n    when: story.ui_true\n    inputs: {{epic: \"{{{{epic}}}}\"}}\n"
        ));
    }
    text
}

fn hostile() -> Vec<(&'static str, String)> {
    let size = 1 << 20;
    vec![
        ("brackets", "[".repeat(size)),
        ("dashes", "- ".repeat(size / 2)),
        ("quotes", "\"".repeat(size)),
        ("colons in texts", "a: b: c\n".repeat(size / 8)),
        ("open quotes", "a: \"x\n".repeat(size / 6)),
        ("open brackets", "a: [b\n".repeat(size / 6)),
        ("tabs", "\t- a\n".repeat(size / 5)),
        ("aliases", format!("x: &a [1]\n{}", "y: *a\n".repeat(size / 6))),
        ("wrong stages", format!("stages:\n{}", "  - gate: x\n    wen: y\n".repeat(size / 24))),
        ("bare templates", format!("stages:\n{}", "  - when: {{x}}\n".repeat(size / 16))),
        ("one condition", format!("stages:\n  - agent: a\n    when: \"{}a\"\n", "!ab&&".repeat(size / 5))),
        (
            "one template",
            format!("stages:\n  - agent: a\n    description: \"{}\"\n", "{{a}} ".repeat(size / 6)),
        ),
    ]
}
