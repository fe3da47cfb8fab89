//! Any text as a template.
#![no_main]
#[path = "../../tests/engine/invariants.rs"]
#[allow(dead_code)]
mod invariants;

libfuzzer_sys::fuzz_target!(|text: &str| invariants::template_is_rendered(text));
