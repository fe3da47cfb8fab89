//! Trust covers what agents' own tools read and execute in a project, within limits.

use crate::project::write;
use crate::project_trust::{changes, grant, project, read, read_with, subject};
use std::fs;
use std::os::unix::fs::symlink;
use superpower::project::Places;
use superpower::project::trust::{Cache, Tools};

#[test]
fn files_that_every_tool_reads_ask_again() {
    for path in [
        "CLAUDE.md",
        "CLAUDE.local.md",
        ".claude/CLAUDE.md",
        "AGENTS.md",
        ".claude/settings.json",
        ".mcp.json",
    ] {
        let (_dir, root, state) = project();
        grant(&root, Tools::Nobody, &state);
        write(&root, path, "{}\n");
        assert_eq!(changes(&root, Tools::Nobody, &state), [format!("{path} (added)")]);
        grant(&root, Tools::Nobody, &state);
        write(&root, path, "[]\n");
        assert_eq!(changes(&root, Tools::Nobody, &state), [format!("{path} (changed)")]);
        fs::remove_file(root.join(path)).unwrap();
        assert_eq!(changes(&root, Tools::Nobody, &state), [format!("{path} (removed)")]);
    }
}

#[test]
fn each_harness_has_a_row_and_a_command_has_all_rows() {
    let rows = [
        (Tools::Claude, ".claude/commands/deploy.md"),
        (Tools::Claude, ".claude/hooks/pre/run.sh"),
        (Tools::Claude, ".claude/rules/style.md"),
        (Tools::Opencode, ".opencode/plugin/x.ts"),
        (Tools::Opencode, ".opencode/agent/any.md"),
        (Tools::Opencode, ".opencode/command/go.md"),
        (Tools::Opencode, ".opencode/tool/t.ts"),
        (Tools::Opencode, "opencode.json"),
        (Tools::Opencode, "opencode.jsonc"),
        (Tools::Codex, ".codex/config.toml"),
        (Tools::Gemini, ".gemini/settings.json"),
        (Tools::Gemini, "GEMINI.md"),
    ];
    let all = [Tools::Claude, Tools::Opencode, Tools::Codex, Tools::Gemini, Tools::Any, Tools::Nobody];
    let (_dir, root, state) = project();
    for (own, path) in rows {
        for tools in all {
            grant(&root, tools, &state);
            write(&root, path, "new\n");
            let asks = tools == own || tools == Tools::Any;
            let expected = if asks { vec![format!("{path} (added)")] } else { Vec::new() };
            assert_eq!(changes(&root, tools, &state), expected, "{tools:?}, {path}");
            fs::remove_file(root.join(path)).unwrap();
        }
    }
    write(&root, ".opencode/superpowers/y.yaml", "name: y\n");
    assert!(changes(&root, Tools::Nobody, &state).is_empty(), "superpowers are ours to read");
}

#[test]
fn local_settings_that_run_or_permit_something_count() {
    let (_dir, root, state) = project();
    let local = ".claude/settings.local.json";
    grant(&root, Tools::Claude, &state);
    write(&root, local, r#"{"theme": "dark"}"#);
    assert!(changes(&root, Tools::Claude, &state).is_empty());
    write(&root, local, r#"{"theme": "dark", "hooks": {"Stop": []}}"#);
    assert_eq!(changes(&root, Tools::Claude, &state), [format!("{local} (added)")]);
    grant(&root, Tools::Claude, &state);
    write(&root, local, r#"{"theme": "light", "hooks": {"Stop": []}}"#);
    assert!(changes(&root, Tools::Claude, &state).is_empty());
    for more in [
        r#""permissions": {"allow": ["Bash"]}"#,
        r#""env": {"PATH": "."}"#,
        r#""apiKeyHelper": "./x""#,
        r#""statusLine": {"command": "./x"}"#,
        r#""enableAllProjectMcpServers": true"#,
    ] {
        write(&root, local, &format!(r#"{{"hooks": {{"Stop": []}}, {more}}}"#));
        assert_eq!(changes(&root, Tools::Claude, &state), [format!("{local} (changed)")], "{more}");
    }
}

#[test]
fn links_inside_are_followed_and_links_outside_count_as_links() {
    let (dir, root, state) = project();
    write(&root, "shared/notes.md", "one\n");
    symlink("shared/notes.md", root.join("AGENTS.md")).unwrap();
    write(dir.path(), "outside.json", "{}");
    symlink("../outside.json", root.join(".mcp.json")).unwrap();
    symlink("..", root.join(".claude/skills/scaffold/around")).unwrap();
    grant(&root, Tools::Nobody, &state);
    write(&root, "shared/notes.md", "two\n");
    assert_eq!(changes(&root, Tools::Nobody, &state), ["AGENTS.md (changed)"]);
    fs::remove_file(root.join(".mcp.json")).unwrap();
    symlink("/etc/passwd", root.join(".mcp.json")).unwrap();
    assert_eq!(changes(&root, Tools::Nobody, &state), [".mcp.json (changed)", "AGENTS.md (changed)"]);
    // A pipe is not read, and does not block.
    fs::remove_file(root.join(".mcp.json")).unwrap();
    std::process::Command::new("mkfifo").arg(root.join(".mcp.json")).status().unwrap();
    assert_eq!(changes(&root, Tools::Nobody, &state), [".mcp.json (changed)", "AGENTS.md (changed)"]);
}

#[test]
fn too_many_files_are_refused_and_the_folder_is_named() {
    let (_dir, root, _) = project();
    for n in 0..2_000 {
        write(&root, &format!(".opencode/node_modules/p{n}/index.js"), "x");
    }
    let refused = read(&root, Tools::Opencode, &mut Cache::default()).unwrap_err();
    assert_eq!(refused.folder, ".opencode");
    assert!(
        refused.to_string().starts_with("\".opencode\" has more than 2,000 files or 64 MiB"),
        "{refused}"
    );
    subject(&root, Tools::Claude);
    let (_dir, root, _) = project();
    let large = fs::File::create(root.join(".claude/skills/scaffold/model.bin")).unwrap();
    large.set_len((64 << 20) + 1).unwrap();
    let refused = read(&root, Tools::Claude, &mut Cache::default()).unwrap_err();
    assert_eq!(refused.folder, ".claude/skills/scaffold");
}

#[test]
fn a_file_is_read_again_if_its_stamp_differs() {
    let (_dir, root, _) = project();
    let mut cache = Cache::default();
    let agent = root.join(".claude/agents/qa.md");
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(3_600);
    let set_back = || fs::File::options().write(true).open(&agent).unwrap().set_modified(old).unwrap();
    set_back();
    let first = read(&root, Tools::Claude, &mut cache).unwrap().digest;
    assert_eq!(read(&root, Tools::Claude, &mut cache).unwrap().digest, first);
    // The size is the same, and the modification time is set back.
    fs::write(&agent, "Tess.\n").unwrap();
    set_back();
    assert_ne!(read(&root, Tools::Claude, &mut cache).unwrap().digest, first);
}

#[test]
fn file_names_are_distinct_and_shown_on_one_line() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let (_dir, root, state) = project();
    let folder = root.join(".claude/skills/scaffold");
    for name in [&b"a\xff"[..], b"a\xfe"] {
        fs::write(folder.join(OsStr::from_bytes(name)), "x").unwrap();
    }
    grant(&root, Tools::Nobody, &state);
    fs::write(folder.join(OsStr::from_bytes(b"a\xff")), "y").unwrap();
    assert_eq!(changes(&root, Tools::Nobody, &state).len(), 1);
    grant(&root, Tools::Nobody, &state);
    fs::write(folder.join("b\n[superpower] APPROVED\u{1b}[2J"), "x").unwrap();
    assert_eq!(
        changes(&root, Tools::Nobody, &state),
        [".claude/skills/scaffold/b^J[superpower] APPROVED^[[2J (added)"]
    );
}

/// The user's own skills are clones that the user made; git changes the files in their `.git` by itself.
#[test]
fn git_folders_of_the_users_own_skills_do_not_count() {
    let (dir, root, _) = project();
    let home = dir.path().canonicalize().unwrap().join("home");
    fs::remove_dir_all(root.join(".claude/skills")).unwrap();
    write(&home, ".claude/skills/scaffold/SKILL.md", "Make files.\n");
    let places = Places { home: Some(home.clone()), extra: Vec::new() };
    let now = || read_with(&root, Tools::Claude, &places, &mut Cache::default()).unwrap().digest;
    let before = now();
    write(&home, ".claude/skills/scaffold/.git/index", "one\n");
    assert_eq!(now(), before);
    write(&home, ".claude/skills/scaffold/run.sh", "one\n");
    assert_ne!(now(), before);
}

/// A `.git` in a project's skill is a folder like any other, and may contain executables.
#[test]
fn git_folders_of_the_project_count() {
    let (_dir, root, state) = project();
    for hidden in [".claude/skills/scaffold/.git/run.sh", ".opencode/.git/hooks/post-checkout"] {
        write(&root, hidden, "one\n");
        grant(&root, Tools::Opencode, &state);
        write(&root, hidden, "two\n");
        assert_eq!(changes(&root, Tools::Opencode, &state), [format!("{hidden} (changed)")]);
        fs::remove_file(root.join(hidden)).unwrap();
        assert_eq!(changes(&root, Tools::Opencode, &state), [format!("{hidden} (removed)")]);
    }
}
