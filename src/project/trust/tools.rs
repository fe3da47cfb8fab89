//! What the agents' own tools read or execute in a project without being asked to.

/// The tools that carry out a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tools {
    Claude,
    Opencode,
    Codex,
    Gemini,
    /// A user's command, which may start any of them.
    Any,
    /// The user, or nobody.
    Nobody,
}

/// A path in the project, and the name under which a record keeps it.
pub(super) struct Row {
    pub(super) path: &'static str,
    pub(super) group: &'static str,
}

/// For every stage, whichever tools carry it out.
const ALL_STAGES: (&str, &[&str]) = (
    "everybody",
    &[
        "CLAUDE.md",
        "CLAUDE.local.md",
        ".claude/CLAUDE.md",
        "AGENTS.md",
        ".claude/settings.json",
        ".claude/settings.local.json",
        ".mcp.json",
    ],
);

/// One row per harness.
const ROWS: [(Tools, &str, &[&str]); 4] = [
    (
        Tools::Claude,
        "claude",
        &[
            ".claude/commands",
            ".claude/hooks",
            ".claude/output-styles",
            ".claude/plugins",
            ".claude/rules",
            ".claude/workflows",
        ],
    ),
    (Tools::Opencode, "opencode", &[".opencode", "opencode.json", "opencode.jsonc"]),
    (Tools::Codex, "codex", &[".codex", "AGENTS.override.md"]),
    (Tools::Gemini, "gemini", &[".gemini", "GEMINI.md"]),
];

/// The paths that these tools read in the project.
pub(super) fn paths(tools: Tools) -> impl Iterator<Item = Row> {
    let rows = ROWS.iter().filter(move |(of, ..)| *of == tools || tools == Tools::Any);
    let rows = rows.map(|(_, group, paths)| (*group, *paths));
    std::iter::once(ALL_STAGES)
        .chain(rows)
        .flat_map(|(group, paths)| paths.iter().map(move |path| Row { path, group }))
}

/// A folder in the rows that no tool reads: only we read superpowers.
pub(super) fn is_left_out(path: &std::path::Path) -> bool {
    path == std::path::Path::new(".opencode/superpowers")
}
