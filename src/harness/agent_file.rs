//! Reads the text of an agent or skill, for a harness that does not know it by name.

use super::Task;
use crate::process::Environment;
use crate::project::frontmatter::{self, Frontmatter};
use crate::project::{Index, Places, Source};
use crate::store::beneath::Door;
use std::path::Path;

/// Maximum size of an agent's or skill's file, in bytes.
const MAX_BYTES: u64 = 4 << 20;

/// A file that describes an agent or a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// The path, relative to the root if it is inside.
    pub path: String,
    /// The text without the front matter.
    pub text: String,
    /// The front matter's `mode`.
    pub mode: Option<String>,
    pub source: Source,
    what: String,
}

impl File {
    /// The file of the task's agent or skill, as the engine finds it.
    pub fn find(task: &Task, root: &Path) -> Option<Self> {
        let index = Index::read(root, &Places::from_env(Vec::new()));
        let (named, what) = match task {
            Task::Agent(name) => (index.agent(name)?, format!("the agent \"{name}\"")),
            Task::Skill(name) => (index.skill(name)?, format!("the skill \"{name}\"")),
        };
        let whole = Door::to(root, &named.path).read_text(&named.path, MAX_BYTES).ok()?;
        Some(Self {
            path: super::tool::relative(&named.path.to_string_lossy(), root),
            text: frontmatter::split(&whole).1.trim().to_owned(),
            mode: named.mode.clone(),
            source: named.source,
            what,
        })
    }

    /// Whether Claude Code reads this file itself.
    pub fn is_of_claude(&self) -> bool {
        matches!(self.source, Source::Project | Source::User)
    }

    /// The prompt preceded by the file's text, as the tool itself would combine them.
    pub fn with_prompt(&self, prompt: &str) -> String {
        const FILLED: &str = "$ARGUMENTS";
        let (filled, text) = (self.text.contains(FILLED), self.text.replace(FILLED, prompt));
        let rest = if filled { String::new() } else { format!("\n\n---\n\n{prompt}") };
        let folder = Path::new(&self.path).parent().filter(|_| self.path.ends_with("/SKILL.md"));
        let base = folder.map_or_else(String::new, |folder| {
            format!(" Its relative paths are relative to {}.", folder.display())
        });
        format!("Work as {}, described as follows:{base}\n\n{text}{rest}", self.what)
    }
}

/// The `mode` of an agent that OpenCode has its own file for; `None` if it has no file.
pub fn opencode_mode(name: &str, root: &Path) -> Option<Option<String>> {
    if name.split('/').any(|part| part.is_empty() || part.starts_with('.')) {
        return None;
    }
    let home = Places::from_env(Vec::new()).home.map(|home| home.join(".config/opencode"));
    let config = Environment::current().get("XDG_CONFIG_HOME").map(|dir| Path::new(dir).join("opencode"));
    let places = [Some(root.join(".opencode")), config, home];
    let folders = places.into_iter().flatten().flat_map(|place| [place.join("agent"), place.join("agents")]);
    let text = folders
        .map(|folder| folder.join(format!("{name}.md")))
        .find_map(|file| Door::to(root, &file).read_text(&file, MAX_BYTES).ok())?;
    Some(Frontmatter::read(&text).and_then(|head| head.get("mode").map(ToOwned::to_owned)))
}
