//! Any text as a condition.
#![no_main]
#[path = "../../tests/engine/invariants.rs"]
#[allow(dead_code)]
mod invariants;

libfuzzer_sys::fuzz_target!(|text: &str| invariants::condition_is_parsed(text));
