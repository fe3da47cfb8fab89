//! Help, the manual page and the completion scripts, which are made from the table of verbs.

use super::Shell;
use std::process::Command;

const VERBS: [&str; 23] = [
    "run",
    "resume",
    "approve",
    "changes",
    "reject",
    "retry",
    "skip",
    "pause",
    "cancel",
    "attach",
    "status",
    "runs",
    "list",
    "plan",
    "check",
    "why",
    "log",
    "diff",
    "trust",
    "driver",
    "schema",
    "completions",
    "man",
];

#[test]
fn help_names_every_verb_and_each_has_its_own() {
    let shell = Shell::new();
    let help = shell.expect(0, &["--help"]).out;
    for verb in VERBS {
        assert!(
            help.lines().any(|line| line.trim_start().starts_with(&format!("{verb} "))),
            "{verb}: {help}"
        );
        let own = shell.expect(0, &[verb, "--help"]).out;
        assert!(own.contains(&format!("Usage: superpower {verb}")), "{own}");
    }
    let version = shell.expect(0, &["--version"]).out;
    assert_eq!(version, format!("superpower {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn the_manual_page_names_every_verb_and_the_files() {
    let shell = Shell::new();
    let page = shell.expect(0, &["man"]).out;
    assert!(page.contains(".TH superpower 1"), "{page}");
    for verb in VERBS {
        assert!(page.contains(&format!("superpower {verb} [OPTIONS]")), "{verb}");
    }
    for section in
        [".SH NAME", ".SH SYNOPSIS", ".SH OPTIONS", ".SH VERBS", ".SH \"EXIT STATUS\"", ".SH FILES"]
    {
        assert!(page.contains(section), "{section}: {page}");
    }
}

#[test]
fn a_completion_script_is_one_of_its_shell() {
    let shell = Shell::new();
    for name in ["bash", "zsh", "fish"] {
        let script = shell.expect(0, &["completions", name]).out;
        for verb in VERBS {
            assert!(script.contains(verb), "{name}: {verb}");
        }
        let file = shell.path().join(name);
        std::fs::write(&file, &script).unwrap();
        // Where the shell is there, it reads the script.
        if let Ok(done) = Command::new(name).arg("-n").arg(&file).output() {
            assert!(done.status.success(), "{name}: {}", String::from_utf8_lossy(&done.stderr));
        }
    }
    assert!(shell.expect(2, &["completions", "csh"]).err.contains("possible values: bash, zsh, fish"));
}
