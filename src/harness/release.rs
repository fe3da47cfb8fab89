//! Finds out which release of an agent's program is installed, from its files and without starting it, and which release is
//! needed.

use super::Kind;
use crate::store::beneath::{Door, real};
use crate::tolerant;
use semver::Version;
use serde_json::Value;
use std::path::Path;

/// The file with a package's release.
const NAME: &str = "package.json";
/// Maximum size of that file, in bytes.
const PACKAGE: u64 = 1 << 20;

/// A feature that needs a minimum release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// The first release with it.
    pub since: Version3,
    /// What an older release lacks, and what happens instead.
    pub otherwise: &'static str,
}

/// Major, minor and patch.
pub type Version3 = (u64, u64, u64);

/// Claude Code's `--agent`.
pub const AGENT_OPTION: Need =
    Need { since: (2, 0, 59), otherwise: "it has no \"--agent\": the agent's text goes before the prompt" };

/// The features that a harness needs; all other features exist in every release that was tested.
pub fn needs(kind: &Kind) -> &'static [Need] {
    match kind {
        Kind::Claude => &[AGENT_OPTION],
        Kind::Opencode | Kind::Command | Kind::Manual | Kind::Fake(_) => &[],
    }
}

impl Need {
    /// Whether a release has the feature.
    pub fn is_met(&self, release: &Version) -> bool {
        (release.major, release.minor, release.patch) >= self.since
    }

    /// The first release with it, such as `2.0.59`.
    pub fn version(&self) -> String {
        let (major, minor, patch) = self.since;
        format!("{major}.{minor}.{patch}")
    }
}

/// The release of an installed program: its file is named after it, or it is in a package that names it.
pub fn installed(program: &Path) -> Option<Version> {
    let real = real(program).ok()?;
    let named = real.file_name()?.to_str()?;
    if let Ok(version) = Version::parse(named) {
        return Some(version);
    }
    // The program is at most a few directories below its package.
    let mut folders = real.ancestors().skip(1).take(4).map(Door::home);
    let package = folders.find(|folder| folder.is_file(Path::new(NAME)))?;
    let text = package.read_text(Path::new(NAME), PACKAGE).ok()?;
    let package = tolerant::value(&text, tolerant::FILE).ok()?;
    let name = package.get("name").and_then(Value::as_str)?;
    let known = ["claude-code", "opencode"].iter().any(|part| name.contains(part));
    Version::parse(package.get("version")?.as_str()?).ok().filter(|_| known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_release_is_read_from_the_programs_files() {
        let dir = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            path
        };
        let native = write("share/claude/versions/2.1.153", "");
        std::os::unix::fs::symlink(&native, dir.path().join("claude")).unwrap();
        assert_eq!(installed(&dir.path().join("claude")), Some(Version::new(2, 1, 153)));
        let npm = write("lib/@anthropic-ai/claude-code/cli.js", "");
        write(
            "lib/@anthropic-ai/claude-code/package.json",
            "{\"name\": \"@anthropic-ai/claude-code\", \"version\": \"2.0.3\",}",
        );
        assert_eq!(installed(&npm), Some(Version::new(2, 0, 3)));
        let other = write("other/bin/claude", "");
        write("other/package.json", "{\"name\": \"my-wrapper\", \"version\": \"0.1.0\"}");
        assert_eq!(installed(&other), None, "a wrapper's own release does not count");
        assert_eq!(installed(&dir.path().join("gone")), None);
        assert_eq!(installed(Path::new("/bin/sh")), None);
    }

    #[test]
    fn releases_are_compared_with_the_first_one_that_has_a_feature() {
        let met = |text: &str| AGENT_OPTION.is_met(&Version::parse(text).unwrap());
        assert!(met("2.0.59") && met("2.1.153") && met("3.0.0") && met("2.1.0-beta.1"));
        assert!(!met("2.0.58") && !met("2.0.3") && !met("1.0.128"));
    }
}
