//! Any bytes as a declaration.
#![no_main]
#[path = "../../tests/engine/invariants.rs"]
#[allow(dead_code)]
mod invariants;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let checked = invariants::bytes_are_checked(bytes);
    invariants::edits_are_followed(checked.source.text());
});
