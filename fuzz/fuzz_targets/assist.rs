//! Any place in any text: the first two bytes say where.
#![no_main]
#[path = "../../tests/engine/invariants.rs"]
#[allow(dead_code)]
mod invariants;

libfuzzer_sys::fuzz_target!(|input: (u16, &str)| invariants::place_is_assisted(input.1, input.0));
