//! What decides which files git sees, and how: its settings, and the ignore rules, attributes and hooks that lie in no
//! work tree. They are kept in each snapshot beside the files, so that a list says where they have changed.

use super::rule_names::{SETTINGS, inner};
use super::{Review, ReviewError};
use crate::store::beneath::{Door, Kind, SMALL};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Hooks that are kept at most.
const HOOKS: usize = 100;
/// Sections that say nothing of files, and change with every branch.
const PASSING: &[&str] = &["branch.", "remote.", "submodule.", "user."];
/// Texts by the name that a list has for them.
pub(super) type Rules = BTreeMap<String, Vec<u8>>;

impl Review {
    /// The rules as they are now.
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
        let hooks = repository.common.join("hooks");
        let entries = Door::home(&repository.common).list(Path::new("hooks")).unwrap_or_default();
        let names = entries.into_iter().filter_map(|entry| entry.name.into_string().ok());
        for name in names.filter(|name| !name.ends_with(".sample")).take(HOOKS) {
            self.keep_rule(&mut rules, &hooks.join(name));
        }
        rules
    }

    /// The text of a rule as it is now, that no file of the project holds.
    pub fn rule(&self, name: &str) -> Option<String> {
        let text = self.rules().remove(name)?;
        Some(String::from_utf8_lossy(&text).into_owned())
    }

    /// Keeps a small file's text; of a larger one that it is there.
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

    /// Relative to the project where it lies in it.
    fn rule_name(&self, file: &Path) -> String {
        let root: PathBuf = self.git.top().join(&self.prefix);
        let root = root.components().as_path();
        file.strip_prefix(root).unwrap_or(file).display().to_string()
    }

    /// Puts the rules into our index, where they are not there yet.
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
        let told: String = now.iter().map(|(name, digest)| format!("{name}\t{digest}\n")).collect();
        Ok(self.door.replace(Path::new(KNOWN), told.as_bytes())?)
    }

    /// Our index was begun anew.
    pub(super) fn forget_rules(&self) {
        let _ = self.door.remove_file(Path::new(KNOWN));
    }
}

/// Which rules our index holds, with the digest of each.
const KNOWN: &str = "rules";

/// One line each. What says how files are read is kept in words; of everything else, which may hold a password, only
/// whether it is the same.
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
