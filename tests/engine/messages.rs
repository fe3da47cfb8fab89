//! Commands that messages tell users to type exist.

use crate::architecture::sources;
use std::fs;
use std::path::Path;

/// Whether the command has this verb, according to the two files that define its verbs.
fn exists(verb: &str, defined: &str) -> bool {
    [
        format!("M.{verb} ="),
        format!("  {verb} = {{ \""),
        format!("subcommands.{verb} ="),
        format!("decision(\"{verb}\""),
    ]
    .iter()
    .any(|form| defined.contains(form.as_str()))
}

#[test]
fn every_command_that_a_message_names_exists() {
    let commands = Path::new(env!("CARGO_MANIFEST_DIR")).join("lua/superpower/commands");
    let defined: String = ["subcommands", "views"]
        .iter()
        .map(|name| fs::read_to_string(commands.join(format!("{name}.lua"))).unwrap())
        .collect();
    let mut named = 0;
    for source in sources() {
        for after in source.code.split(":Superpower ").skip(1) {
            let verb: String = after.chars().take_while(char::is_ascii_lowercase).collect();
            named += 1;
            assert!(exists(&verb, &defined), "{} tells people to type \":Superpower {verb}\"", source.path);
        }
    }
    assert!(named > 10, "{named}");
    assert!(!exists("reopen", &defined), "what does not exist is found out");
}
