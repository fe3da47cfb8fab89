//! Compares two snapshots: the changed files, their line counts, and what the list leaves out.

use super::rule_names::{self, IGNORED, LEFT_OUT, MANY, NESTED, REFUSED, STAMPS, UNREAD, WITHIN, WORK_TREE};
use super::{Change, Review, ReviewError, Status, TreeId};
use std::collections::BTreeSet;

/// Maximum number of files in one call that counts lines, if some of their texts are missing.
const AT_ONCE: usize = 500;
/// Maximum number of such calls.
const CHUNKS: usize = 20;
/// Maximum number of names in the sentence that counts what is left out.
const NAMED: usize = 3;

/// A change, with the ids of the objects before and after.
type Raw = (Change, [String; 2]);

impl Review {
    /// The files that differ between two snapshots, sorted by path.
    pub fn changes(&self, from: &TreeId, to: &TreeId) -> Result<Vec<Change>, ReviewError> {
        let mut changes = self.all_changes(from, to)?;
        changes.retain(|change| rule_names::listed(&change.path).is_none());
        Ok(changes)
    }

    /// The same as a list for the user. Rules that decide which files git lists come first.
    pub fn list_changes(&self, from: &TreeId, to: &TreeId) -> Result<Vec<Change>, ReviewError> {
        let changes = self.all_changes(from, to)?.into_iter().filter_map(|mut change| {
            if let Some(name) = rule_names::listed(&change.path) {
                if rule_names::is_count(&name) {
                    return None;
                }
                change.path = name.strip_prefix(WITHIN).unwrap_or(&name).to_owned();
                return Some((true, change));
            }
            Some((rule_names::is_rule(&change.path), change))
        });
        let (first, rest): (Vec<_>, Vec<_>) = changes.partition(|(is_rule, _)| *is_rule);
        Ok(first.into_iter().chain(rest).map(|(_, change)| change).collect())
    }

    /// Compares a new snapshot, or one that was just taken, with an earlier one. If a rule has changed that can hide files,
    /// ignored files are included, so that an agent cannot hide its changes.
    pub fn compare(&self, from: &TreeId, now: Option<TreeId>) -> Result<(TreeId, Vec<Change>), ReviewError> {
        let now = now.map_or_else(|| self.snapshot(), Ok)?;
        let changes = self.all_changes(from, &now)?;
        let hides = |change: &Change| match rule_names::listed(&change.path) {
            Some(name) => rule_names::hides(&name),
            None => rule_names::is_rule(&change.path),
        };
        let now = if changes.iter().any(hides) { self.snapshot_all()? } else { now };
        let changes = self.list_changes(from, &now)?;
        Ok((now, changes))
    }

    /// A sentence that counts what the list of changes leaves out; `None` if it is complete.
    pub fn left_out(&self, from: &TreeId, to: &TreeId) -> Option<String> {
        let names = |tree: &TreeId, name: &str| -> BTreeSet<String> {
            let object = format!("{}:{}", tree.as_str(), rule_names::inner(name));
            let text = self.git.run(&["cat-file", "blob", &object], b"").unwrap_or_default();
            String::from_utf8_lossy(&text).lines().map(str::to_owned).collect()
        };
        let (before, now) = (names(from, IGNORED), names(to, IGNORED));
        let ignored: Vec<String> = now.difference(&before).cloned().collect();
        // Those of the one before may be unknown.
        let (stamps, states) = (names(from, STAMPS), names(to, STAMPS));
        let name = |line: &String| line.split_once('\t').map(|(_, name)| name.to_owned());
        let known: BTreeSet<String> = stamps.iter().filter_map(name).collect();
        let changed = states.difference(&stamps).filter_map(name).filter(|name| known.contains(name));
        let changed: Vec<String> = changed.collect();
        let out = names(to, LEFT_OUT);
        let of = |kind: &str| -> Vec<String> {
            out.iter()
                .filter_map(|line| line.strip_prefix(kind)?.strip_prefix(' '))
                .map(str::to_owned)
                .collect()
        };
        let counted = |names: &[String], one: &str, many: &str| {
            let some = names.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
            let more = if names.len() > NAMED { ", …" } else { "" };
            let what = if names.len() == 1 { one } else { many };
            (!names.is_empty()).then(|| format!("{} {what} ({some}{more})", names.len()))
        };
        let parts = [
            counted(&ignored, "new ignored file", "new ignored files"),
            counted(&changed, "changed ignored file", "changed ignored files"),
            counted(&of(REFUSED), "file whose name git does not take", "files whose names git does not take"),
            counted(
                &of(UNREAD),
                "file or folder that cannot be read",
                "files or folders that cannot be read",
            ),
            counted(&of(NESTED), "nested repository", "nested repositories"),
            counted(&of(WORK_TREE), "other work tree", "other work trees"),
            out.contains(MANY).then(|| "more ignored files than can be listed".to_owned()),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| format!("not listed: {}", parts.join("; ")))
    }

    /// All changed entries, including our own for the rules, sorted by path.
    fn all_changes(&self, from: &TreeId, to: &TreeId) -> Result<Vec<Change>, ReviewError> {
        if from == to {
            return Ok(Vec::new());
        }
        let raw = match self.differ("--raw", from, to, &[]) {
            Err(ReviewError::Git { .. }) if !self.has(from) || !self.has(to) => {
                return Err(ReviewError::Gone);
            }
            other => other?,
        };
        let mut changes = parse_raw(&raw);
        changes
            .retain(|(change, _)| rule_names::listed(&change.path).is_some() || !self.is_own(&change.path));
        self.count_lines(&mut changes, from, to)?;
        Ok(changes.into_iter().map(|(change, _)| change).collect())
    }

    /// The output of git's comparison of two snapshots, for these files or for all.
    fn differ(&self, how: &str, from: &TreeId, to: &TreeId, files: &[&str]) -> Result<Vec<u8>, ReviewError> {
        let head = ["--literal-pathspecs", "diff-tree", "-r", "-z", how];
        let mode = ["--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--no-abbrev"];
        let args = [&head[..], &mode[..], &[from.as_str(), to.as_str(), "--"], files].concat();
        self.git.run(&args, b"")
    }

    /// Counts the lines of each change whose texts exist. Texts of the user's repository may have been removed with it.
    fn count_lines(&self, changes: &mut [Raw], from: &TreeId, to: &TreeId) -> Result<(), ReviewError> {
        let ids = changes.iter().flat_map(|(_, ids)| ids).filter(|id| id.bytes().any(|byte| byte != b'0'));
        let asked: String = ids.map(|id| format!("{id}\n")).collect();
        let output = self.git.run(&["cat-file", "--batch-check"], asked.as_bytes())?;
        let output = String::from_utf8_lossy(&output);
        let missing: BTreeSet<&str> =
            output.lines().filter_map(|line| line.strip_suffix(" missing")).collect();
        if missing.is_empty() {
            apply_counts(changes, &self.differ("--numstat", from, to, &[])?);
            return Ok(());
        }
        let there = changes.iter().filter(|(_, ids)| !ids.iter().any(|id| missing.contains(id.as_str())));
        let there: Vec<String> = there.map(|(change, _)| change.path.clone()).collect();
        // The others have no counts.
        for some in there.chunks(AT_ONCE).take(CHUNKS) {
            let some: Vec<&str> = some.iter().map(String::as_str).collect();
            apply_counts(changes, &self.differ("--numstat", from, to, &some)?);
        }
        Ok(())
    }
}

/// Reads `diff-tree -z --raw`.
fn parse_raw(output: &[u8]) -> Vec<Raw> {
    let mut fields = output.split(|byte| *byte == 0).map(|field| String::from_utf8_lossy(field).into_owned());
    let mut changes = Vec::new();
    while let Some(field) = fields.next() {
        let Some(raw) = field.strip_prefix(':') else { continue };
        let words: Vec<&str> = raw.split(' ').collect();
        let (Some(path), [_, _, before, after, status]) = (fields.next(), &words[..]) else { break };
        let status = match *status {
            "A" => Status::Created,
            "D" => Status::Deleted,
            _ => Status::Changed,
        };
        let change = Change { path, status, added: None, removed: None };
        changes.push((change, [(*before).to_owned(), (*after).to_owned()]));
    }
    changes.sort_by(|(a, _), (b, _)| a.path.cmp(&b.path));
    changes
}

/// Reads `diff-tree -z --numstat`.
fn apply_counts(changes: &mut [Raw], output: &[u8]) {
    for field in output.split(|byte| *byte == 0) {
        let field = String::from_utf8_lossy(field);
        let mut parts = field.splitn(3, '\t');
        let (Some(added), Some(removed), Some(path)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        if let Ok(at) = changes.binary_search_by(|(change, _)| change.path.as_str().cmp(path)) {
            changes[at].0.added = added.parse().ok();
            changes[at].0.removed = removed.parse().ok();
        }
    }
}
