//! The rules that decide which files git lists, and how: its settings, and ignore rules, attributes and hooks outside of
//! the work tree. Each snapshot contains them, so that a list shows when they have changed.

use super::rule_names::{SETTINGS, WITHIN, inner};
use super::{Review, ReviewError};
use crate::project::branch;
use crate::store::beneath::{Door, Kind, SMALL};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Maximum number of hooks in a snapshot.
const HOOKS: usize = 100;
/// Sections that do not affect files, and change with every branch.
const PASSING: &[&str] = &["branch.", "remote.", "submodule.", "user."];
/// The texts of rules, by their names in a list.
pub(super) type Rules = BTreeMap<String, Vec<u8>>;

impl Review {
    /// The current rules.
    pub(super) fn rules(&self) -> Rules {
        let mut rules = Rules::new();
        rules.insert(SETTINGS.to_owned(), settings(self.git.users()).into_bytes());
        let named = |key: &str| {
            let value = self.git.users().iter().rev().find(|(name, _)| name == key);
            value.map(|(_, value)| super::git::expand(value))
        };
        for file in
            [self.git.excludes().map(Path::to_owned), named("core.attributesfile")].into_iter().flatten()
        {
            self.keep_rule(&mut rules, &file);
        }
        let Some(repository) = &self.repository else { return rules };
        for name in ["info/exclude", "info/attributes"] {
            self.keep_rule(&mut rules, &repository.common.join(name));
        }
        self.hooks(&mut rules, &repository.common);
        rules
    }

    /// Adds what a nested repository may execute: its hooks, and the programs in its settings.
    pub(super) fn nested_rules(&self, rules: &mut Rules, folder: &Path) {
        let real = |repository: &branch::Repository| repository.common.canonicalize().ok();
        let (ours, top) = (self.repository.as_ref().and_then(real), self.git.top().canonicalize().ok());
        let nested = branch::repository(folder).and_then(|nested| real(&nested));
        let is_within = |nested: &PathBuf| {
            ours.as_ref() != Some(nested) && top.is_some_and(|top| nested.starts_with(top))
        };
        let Some(nested) = nested.filter(is_within) else { return };
        let mut own = Rules::new();
        self.keep_rule(&mut own, &nested.join("config"));
        self.hooks(&mut own, &nested);
        rules.extend(own.into_iter().map(|(name, text)| (format!("{WITHIN}{name}"), text)));
    }

    fn hooks(&self, rules: &mut Rules, common: &Path) {
        let entries = Door::home(common).list(Path::new("hooks")).unwrap_or_default();
        let names = entries.into_iter().filter_map(|entry| entry.name.into_string().ok());
        for name in names.filter(|name| !name.ends_with(".sample")).take(HOOKS) {
            self.keep_rule(rules, &common.join("hooks").join(name));
        }
    }

    /// The current text of a rule that is not a file of the project.
    pub fn rule(&self, name: &str) -> Option<String> {
        let text = self.rules().remove(name)?;
        Some(String::from_utf8_lossy(&text).into_owned())
    }

    /// Adds a rule's text; for a large file only its size and time.
    fn keep_rule(&self, rules: &mut Rules, file: &Path) {
        let (Some(dir), Some(name)) = (file.parent(), file.file_name()) else { return };
        let (door, name) = (Door::home(dir), Path::new(name));
        let Ok(meta) = door.stat(name) else { return };
        let text = match door.read(name, SMALL) {
            Ok(text) => text,
            Err(_) if meta.kind == Kind::Dir => return,
            Err(_) => format!("{} {} {}", meta.len, meta.modified.0, meta.modified.1).into_bytes(),
        };
        rules.insert(self.rule_name(file), text);
    }

    /// The rule's name: its path, relative to the project if it is inside.
    fn rule_name(&self, file: &Path) -> String {
        let root: PathBuf = self.git.top().join(&self.prefix);
        let root = root.components().as_path();
        file.strip_prefix(root).unwrap_or(file).display().to_string()
    }

    /// Writes the rules that have changed into our index.
    pub(super) fn put_rules(&self, rules: &Rules) -> Result<(), ReviewError> {
        let known = self.door.read_text(Path::new(KNOWN), super::git_dir::LIST).unwrap_or_default();
        let known: BTreeMap<&str, &str> = known.lines().filter_map(|line| line.split_once('\t')).collect();
        let now: BTreeMap<String, String> =
            rules.iter().map(|(name, text)| (inner(name), digest(text))).collect();
        let is_there =
            |(name, digest): &(&String, &String)| known.get(name.as_str()) == Some(&digest.as_str());
        if known.len() == now.len() && now.iter().all(|pair| is_there(&pair)) {
            return Ok(());
        }
        let none = "0".repeat(self.id_length());
        let mut info = String::new();
        for (name, text) in rules.iter().filter(|(name, text)| !is_there(&(&inner(name), &digest(text)))) {
            let id = self.git.run(&["hash-object", "-w", "--no-filters", "--stdin"], text)?;
            let id = String::from_utf8_lossy(&id).trim().to_owned();
            info.push_str(&format!("100644 {id}\t{}{}\0", self.prefix, inner(name)));
        }
        for gone in known.keys().filter(|name| !now.contains_key(**name)) {
            info.push_str(&format!("0 {none}\t{}{gone}\0", self.prefix));
        }
        let _ = self.door.remove_file(Path::new(KNOWN));
        self.git.run(&["update-index", "-z", "--index-info"], info.as_bytes())?;
        let lines: String = now.iter().map(|(name, digest)| format!("{name}\t{digest}\n")).collect();
        Ok(self.door.replace(Path::new(KNOWN), lines.as_bytes())?)
    }

    /// Forgets which rules are in our index, because the index is created again.
    pub(super) fn forget_rules(&self) {
        let _ = self.door.remove_file(Path::new(KNOWN));
    }
}

/// The file that lists the rules in our index, with the digest of each.
const KNOWN: &str = "rules";

/// The settings, one on each line. Those of `core` are kept as text. Others may contain a password, so only their digest
/// is kept.
fn settings(all: &[(String, String)]) -> String {
    let counts = |key: &String| !PASSING.iter().any(|passing| key.starts_with(passing));
    let line = |(key, value): &(String, String)| {
        let value =
            if key.starts_with("core.") { value.clone() } else { digest(value.as_bytes())[..16].to_owned() };
        format!("{key}={}\n", value.replace('\n', " "))
    };
    let mut lines: Vec<String> = all.iter().filter(|(key, _)| counts(key)).map(line).collect();
    lines.sort();
    lines.concat()
}

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_say_what_changes_how_files_are_read_and_no_password() {
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let all =
            [pair("core.filemode", "false"), pair("branch.x.merge", "y"), pair("http.extraheader", "secret")];
        let told = settings(&all);
        assert!(told.contains("core.filemode=false\n") && told.contains("http.extraheader="), "{told}");
        assert!(!told.contains("secret") && !told.contains("branch"), "{told}");
    }
}
