//! What in a project the agents' own tools read or execute by themselves, told nothing of it.

/// What carries out a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tools {
    /// Claude Code.
    Claude,
    /// OpenCode.
    Opencode,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// A command of the user's, which may drive any of them.
    Any,
    /// A human, or no one.
    Nobody,
}

/// A file or a folder of the project, and the name under which a record keeps it.
pub(super) struct Row {
    pub(super) path: &'static str,
    pub(super) group: &'static str,
}

/// For every stage, whoever carries it out.
const EVERYBODY: (&str, &[&str]) = (
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

/// A row for each harness.
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

/// What is read of the project when these tools work.
pub(super) fn paths(tools: Tools) -> impl Iterator<Item = Row> {
    let rows = ROWS.iter().filter(move |(of, ..)| *of == tools || tools == Tools::Any);
    let rows = rows.map(|(_, group, paths)| (*group, *paths));
    std::iter::once(EVERYBODY)
        .chain(rows)
        .flat_map(|(group, paths)| paths.iter().map(move |path| Row { path, group }))
}

/// A folder in the rows that no tool reads: superpowers are ours to read.
pub(super) fn is_left_out(path: &std::path::Path) -> bool {
    path == std::path::Path::new(".opencode/superpowers")
}
