//! The map in CONTRIBUTING.md names files and functions that exist, so that a newcomer finds what it points at.

use regex::Regex;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The texts between backticks.
fn quoted(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// The files of a cell: the first by its path from the root, the others by that or by their name beside the first.
fn files(cell: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = Vec::new();
    for name in quoted(cell) {
        let beside = files.first().and_then(|first| first.parent()).filter(|_| !name.contains('/'));
        let path = beside.unwrap_or(root()).join(name);
        files.push(path);
    }
    files
}

/// Whether a source defines this function, method or constant.
fn defines(source: &str, function: &str) -> bool {
    let name = regex::escape(function.rsplit("::").next().unwrap_or(function));
    let pattern = format!(r"\b(?:fn|const|local function|function \w+[.:])\s*{name}\b");
    Regex::new(&pattern).expect("a pattern").is_match(source)
}

#[test]
fn the_map_of_contributing_names_files_and_functions_that_exist() {
    let text = fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    let (_, map) = text.split_once("## From `:Superpower run`").expect("the map");
    let (map, _) = map.split_once("\n## ").expect("the section after the map");
    let mut rows = 0;
    for line in map.lines() {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let [number, named, functions, _] = cells[..] else { continue };
        if number.parse::<u32>().is_err() {
            continue;
        }
        rows += 1;
        let sources: Vec<String> = files(named)
            .iter()
            .map(|file| {
                fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
            })
            .collect();
        for function in quoted(functions) {
            assert!(
                sources.iter().any(|source| defines(source, function)),
                "row {number} of the map in CONTRIBUTING.md: {named} does not define {function}"
            );
        }
    }
    assert!(rows > 30, "the map has {rows} rows: is its format still known here?");
}
