//! The root of a project, what it declares, and its facts.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use superpower::project::root::find_from;
use superpower::project::{Index, Places, Source, expects, facts};

fn scratch() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let real = dir.path().canonicalize().unwrap();
    (dir, real)
}

pub fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn inputs(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn superpowers_take_precedence_over_a_nearer_claude_folder() {
    let (_dir, top) = scratch();
    write(&top, "repo/.git/HEAD", "");
    write(&top, "repo/.opencode/superpowers/a.yaml", "");
    write(&top, "repo/pkg/.claude/x", "");
    let find = |file: &str| find_from(Some(&top.join(file)), &top, Some(&top)).unwrap();
    assert_eq!(find("repo/pkg/src/new.rs"), top.join("repo"));
    fs::remove_dir_all(top.join("repo/.opencode")).unwrap();
    assert_eq!(find("repo/pkg/src/new.rs"), top.join("repo/pkg"));
    fs::remove_dir_all(top.join("repo/pkg/.claude")).unwrap();
    assert_eq!(find("repo/pkg/src/new.rs"), top.join("repo"));
}

#[test]
fn folders_of_superpowers_mark_a_root_and_folders_of_agents_do_not() {
    for (folder, is_root) in [
        (".claude/superpowers", true),
        (".claude/taffy", true),
        (".opencode/superpowers", true),
        (".agents/agents", false),
        (".github/agents", false),
    ] {
        let (_dir, top) = scratch();
        fs::create_dir_all(top.join("repo").join(folder)).unwrap();
        write(&top, "repo/pkg/.claude/x", "");
        let found = find_from(None, &top.join("repo/pkg"), Some(&top)).unwrap();
        assert_eq!(found, top.join(if is_root { "repo" } else { "repo/pkg" }), "{folder}");
    }
}

#[test]
fn the_search_stops_at_the_git_root() {
    let (_dir, top) = scratch();
    write(&top, "outer/.claude/superpowers/a.yaml", "");
    write(&top, "outer/inner/.git", "gitdir: elsewhere");
    write(&top, "outer/inner/a.rs", "");
    let cwd = top.join("outer/inner");
    assert_eq!(find_from(None, &cwd, Some(&top)).unwrap(), cwd);
}

#[test]
fn a_marked_working_directory_takes_precedence_over_a_git_root() {
    let (_dir, top) = scratch();
    write(&top, "lib/.git/HEAD", "");
    write(&top, "lib/a.rs", "");
    write(&top, "app/.claude/superpowers/a.yaml", "");
    let file = top.join("lib/a.rs");
    assert_eq!(find_from(Some(&file), &top.join("app"), Some(&top)).unwrap(), top.join("app"));
    assert_eq!(find_from(Some(&file), &top, Some(&top)).unwrap(), top.join("lib"));
}

#[test]
fn the_home_directory_is_never_a_project() {
    let (_dir, top) = scratch();
    write(&top, "home/.claude/superpowers/a.yaml", "");
    write(&top, "home/.git/HEAD", "");
    write(&top, "home/notes/a.md", "");
    let home = top.join("home");
    let none = find_from(None, &home, Some(&home)).unwrap_err();
    assert_eq!(none.looked, std::slice::from_ref(&home));
    let none = find_from(Some(&home.join("notes/a.md")), &home, Some(&home)).unwrap_err();
    assert_eq!(none.looked, [home.join("notes"), home.clone()]);
    assert!(none.to_string().starts_with("no project: looked in \""), "{none}");
    assert!(find_from(None, &top, Some(&home)).is_err(), "what is above it neither");
    // A directory below it can be a project, but only as the working directory.
    assert_eq!(find_from(None, &home.join("notes"), Some(&home)).unwrap(), home.join("notes"));
    assert!(find_from(None, Path::new("/"), None).is_err());
}

#[test]
fn roots_are_real_paths_even_for_missing_files() {
    let (_dir, top) = scratch();
    write(&top, "repo/.claude/superpowers/a.yaml", "");
    symlink(top.join("repo"), top.join("link")).unwrap();
    symlink(top.join("home"), top.join("home-link")).unwrap();
    let found = find_from(Some(&top.join("link/not/yet/there.rs")), &top, Some(&top)).unwrap();
    assert_eq!(found, top.join("repo"));
    write(&top, "home/.claude/superpowers/a.yaml", "");
    assert!(find_from(None, &top.join("home"), Some(&top.join("home-link"))).is_err());
}

#[test]
fn superpowers_are_found_in_order_and_the_first_of_a_name_wins() {
    let (_dir, top) = scratch();
    let root = top.join("repo");
    write(&root, ".claude/superpowers/zeta.yaml", "");
    write(&root, ".claude/superpowers/team/deploy.yaml", "");
    write(&root, ".claude/superpowers/team/schema.yaml", "");
    write(&root, ".claude/superpowers/alpha.yml", "");
    write(&root, ".claude/superpowers/notes.md", "");
    write(&root, ".claude/taffy/deploy.yaml", "");
    write(&root, ".claude/taffy/later.yaml", "");
    write(&root, ".claude/taffy/schema.yaml", "");
    write(&root, ".claude/taffy/zeta.yaml", "");
    write(&root, ".opencode/superpowers/later.yaml", "");
    write(&root, ".opencode/superpowers/oc.yaml", "");
    write(&root, ".opencode/superpowers/zeta.yaml", "");
    write(&root, "conf/loop.yaml", "");
    write(&root, "conf/oc.yaml", "");
    write(&top, "home/.claude/superpowers/loop.yaml", "");
    write(&top, "home/.claude/superpowers/mine.yaml", "");
    // A standard place is not searched twice.
    let extra = vec![".claude/taffy".into(), "conf".into()];
    let places = Places { home: Some(top.join("home")), extra };
    let index = Index::read(&root, &places);
    let names: Vec<_> = index.superpowers.iter().map(|file| (file.name.as_str(), file.source)).collect();
    assert_eq!(
        names,
        [
            ("alpha", Source::Project),
            ("deploy", Source::Project),
            ("zeta", Source::Project),
            ("./deploy", Source::Project),
            ("later", Source::Project),
            ("oc", Source::OpenCode),
            ("loop", Source::Extra),
            ("mine", Source::User)
        ]
    );
    assert!(index.duplicates.is_empty());
    let path = |name: &str| index.superpower(name).unwrap().path.strip_prefix(&top).unwrap().to_path_buf();
    assert_eq!(path("team/deploy"), path("deploy"));
    assert_eq!(path("deploy"), Path::new("repo/.claude/superpowers/team/deploy.yaml"));
    assert_eq!(path("zeta"), Path::new("repo/.claude/superpowers/zeta.yaml"));
    assert_eq!(path("./deploy"), Path::new("repo/.claude/taffy/deploy.yaml"));
    assert_eq!(path("later"), Path::new("repo/.claude/taffy/later.yaml"));
}

#[test]
fn duplicates_in_one_place_are_reported_and_stay_reachable() {
    let (_dir, root) = scratch();
    write(&root, ".claude/superpowers/a/deploy.yaml", "");
    write(&root, ".claude/superpowers/deploy.yaml", "");
    write(&root, ".claude/superpowers/deploy.yml", "");
    let index = Index::read(&root, &Places::default());
    assert_eq!(index.duplicates.len(), 1);
    assert_eq!(index.duplicates[0].paths.len(), 3);
    // `find … | sort` lists the folder first, and the first of a name counts.
    assert!(index.superpower("deploy").unwrap().path.ends_with("a/deploy.yaml"));
    assert!(index.superpower("a/deploy").unwrap().path.ends_with("a/deploy.yaml"));
    assert!(index.superpower("./deploy").unwrap().path.ends_with("superpowers/deploy.yaml"));
    assert!(index.superpower("./deploy.yaml").unwrap().path.ends_with("superpowers/deploy.yaml"));
}

#[test]
fn each_place_is_sorted_bytewise() {
    let (_dir, root) = scratch();
    let files =
        ["a/b.yaml", "a-b.yaml", "a.yaml", "Z.yaml", "é.yaml", "a/c/d.yaml", "_x.yml", "10.yaml", "9.yaml"];
    for file in files {
        write(&root, &format!(".claude/superpowers/{file}"), "");
    }
    let place = root.join(".claude/superpowers");
    let sorted = std::process::Command::new("sh")
        .args(["-c", r"find . -name '*.y*ml' | LC_ALL=C sort"])
        .current_dir(&place)
        .output()
        .unwrap();
    let index = Index::read(&root, &Places::default());
    let inner = |path: &Path| format!("./{}\n", path.strip_prefix(&place).unwrap().display());
    let found: String = index.superpowers.iter().map(|file| inner(&file.path)).collect();
    assert_eq!(found, String::from_utf8(sorted.stdout).unwrap());
}

#[test]
fn an_unknown_superpower_suggests_the_most_similar_names() {
    let (_dir, root) = scratch();
    for name in ["api-endpoint", "bugfix", "new-ui-feature"] {
        write(&root, &format!(".claude/superpowers/{name}.yaml"), "");
    }
    let unknown = Index::read(&root, &Places::default()).superpower("bugfx").cloned().unwrap_err();
    assert_eq!(unknown.names[0], "bugfix");
    assert!(unknown.to_string().contains("did you mean \"bugfix\"?"), "{unknown}");
    let none = Index::read(&root.join("empty"), &Places::default()).superpower("x").cloned().unwrap_err();
    assert_eq!(
        none.to_string(),
        "no superpower \"x\"; this project has none yet, create one with :Superpower new"
    );
}

#[test]
fn links_out_of_the_project_and_cycles_are_not_followed() {
    let (_dir, top) = scratch();
    let root = top.join("repo");
    write(&top, "elsewhere/evil.yaml", "");
    write(&root, "shared/inside.yaml", "");
    write(&root, ".claude/superpowers/own.yaml", "");
    let place = root.join(".claude/superpowers");
    symlink(top.join("elsewhere"), place.join("out")).unwrap();
    symlink(top.join("elsewhere/evil.yaml"), place.join("evil.yaml")).unwrap();
    symlink(root.join("shared"), place.join("in")).unwrap();
    symlink(&place, place.join("again")).unwrap();
    let index = Index::read(&root, &Places::default());
    let names: Vec<_> = index.superpowers.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(names, ["inside", "own"]);
    assert_eq!(
        index.left.lines(),
        [
            ".claude/superpowers/evil.yaml is a link out of the project, which is not followed",
            ".claude/superpowers/out is a link out of the project, which is not followed"
        ]
    );
}

#[test]
fn a_link_out_of_the_project_is_reported_if_something_is_missing() {
    let (_dir, top) = scratch();
    let root = top.join("repo");
    write(&top, "dots/superpowers/w.yaml", "");
    write(&top, "dots/agents/qa.md", "");
    write(&top, "dots/skills/s/SKILL.md", "");
    write(&root, "README.md", "");
    symlink("../dots", root.join(".claude")).unwrap();
    let index = Index::read(&root, &Places::default());
    let out = ".claude is a link out of the project, which is not followed";
    assert_eq!(index.left.lines(), [out]);
    let unknown = index.superpower("w").cloned().unwrap_err();
    assert!(unknown.to_string().ends_with(&format!("create one with :Superpower new; {out}")), "{unknown}");

    // Files, folders and a broken link; only links that may be the missing superpower are reported.
    let root = top.join("other");
    write(&root, ".claude/superpowers/own.yaml", "");
    write(&root, ".claude/agents/plain.md", "");
    write(&root, ".claude/skills/plain/SKILL.md", "");
    symlink(top.join("dots/superpowers/w.yaml"), root.join(".claude/superpowers/w.yaml")).unwrap();
    symlink(top.join("nowhere.yaml"), root.join(".claude/superpowers/gone.yaml")).unwrap();
    symlink(top.join("dots/agents/qa.md"), root.join(".claude/agents/qa.md")).unwrap();
    symlink(top.join("dots/skills/s"), root.join(".claude/skills/s")).unwrap();
    let index = Index::read(&root, &Places::default());
    let unknown = |name: &str| index.superpower(name).cloned().unwrap_err().to_string();
    let (w, gone) = (unknown("w"), unknown("gone"));
    assert!(w.contains("w.yaml is a link out of the project") && !w.contains("gone"), "{w}");
    assert!(gone.contains(".claude/superpowers/gone.yaml is a broken link"), "{gone}");
    let not_followed = |path: &str| format!("{path} is a link out of the project, which is not followed");
    assert_eq!(index.left.agents[0].to_string(), not_followed(".claude/agents/qa.md"));
    assert_eq!(index.left.skills[0].to_string(), not_followed(".claude/skills/s"));
}

#[test]
fn a_linked_folder_inside_the_project_is_followed() {
    let (_dir, root) = scratch();
    write(&root, "conf/claude/superpowers/w.yaml", "");
    write(&root, "conf/claude/agents/qa.md", "---\nname: tester\n---\n");
    write(&root, "conf/claude/skills/s/SKILL.md", "");
    symlink("conf/claude", root.join(".claude")).unwrap();
    let index = Index::read(&root, &Places::default());
    assert!(index.superpower("w").is_ok() && index.agent("tester").is_some() && index.skill("s").is_some());
    assert!(index.left.lines().is_empty());
}

#[test]
fn an_agent_with_odd_front_matter_is_found_and_the_fault_located() {
    let (_dir, root) = scratch();
    write(&root, ".claude/agents/open.md", "---\nname: opened\ndescription: D\n\nBody");
    write(&root, ".claude/agents/listed.md", "---\nname: [qa]\ndescription: Kept\n---\n");
    fs::write(root.join(".claude/agents/latin.md"), b"---\nname: latin\ndescription: caf\xe9\n---\n")
        .unwrap();
    let huge = format!("---\nname: huge\nx: {}\n---\n", "y".repeat(200_000));
    write(&root, ".claude/agents/h.md", &huge);
    let index = Index::read(&root, &Places::default());
    let said = |name: &str| {
        let agent = index.agent(name).unwrap();
        agent.faults.iter().map(|it| agent.said(it)).collect::<Vec<_>>().join("\n")
    };
    assert!(said("opened").ends_with("open.md:1: the line \"---\" that ends the front matter is missing"));
    assert!(said("listed").ends_with("listed.md:2: \"name\" must be a text"));
    assert_eq!(index.agent("listed").unwrap().description, "Kept");
    assert_eq!(said("latin"), "");
    assert!(index.agent("huge").is_some());
}

#[test]
fn agents_and_skills_have_names_descriptions_and_modes() {
    let (_dir, top) = scratch();
    let root = top.join("repo");
    write(&root, ".claude/agents/deep/a.md", "---\nname: qa\ndescription: Tests: all\n---\n");
    write(&root, ".claude/agents/plain.md", "no head");
    write(&root, ".opencode/agent/qa.md", "---\nmode: subagent\n---\n");
    write(&root, ".opencode/agents/oc.md", "---\nmode: subagent\n---\n");
    write(&top, "home/.config/opencode/agents/mine.md", "");
    write(
        &root,
        ".claude/skills/scaffold/SKILL.md",
        "---\nname: scaffolding\ndescription: Makes files\n---\n",
    );
    write(&root, ".claude/skills/empty/README.md", "");
    let index = Index::read(&root, &Places { home: Some(top.join("home")), extra: vec![] });
    assert_eq!(index.agent("qa").unwrap().description, "Tests: all");
    assert_eq!(index.agent("qa").unwrap().source, Source::Project);
    assert!(index.agent("a").is_none() && index.agent("plain").is_some());
    assert_eq!(index.agent("oc").unwrap().mode.as_deref(), Some("subagent"));
    assert_eq!(index.agent("mine").unwrap().source, Source::UserOpenCode);
    assert_eq!(index.skill("scaffold").unwrap().description, "Makes files");
    assert_eq!(index.skill("scaffolding"), index.skill("scaffold"));
    assert!(index.skill("empty").is_none());
}

/// The same name is in every place; the places are removed one by one, from the front.
#[test]
fn the_first_agent_or_skill_of_a_name_counts() {
    let (_dir, top) = scratch();
    let places = Places { home: Some(top.join("home")), extra: vec![] };
    let agents = [
        "repo/.claude/agents/deep/x.md",
        "repo/.opencode/agent/x.md",
        "repo/.opencode/agents/x.md",
        "repo/.agents/agents/deep/x.md",
        "repo/.github/agents/x.agent.md",
        "home/.claude/agents/deep/x.md",
        "home/.config/opencode/agent/x.md",
        "home/.config/opencode/agents/x.md",
    ];
    let skills = [
        "repo/.claude/skills/x/SKILL.md",
        "repo/.agents/skills/x/SKILL.md",
        "repo/.opencode/skill/x/SKILL.md",
        "repo/.opencode/skills/x/SKILL.md",
        "home/.claude/skills/x/SKILL.md",
        "home/.agents/skills/x/SKILL.md",
    ];
    agents.iter().chain(&skills).for_each(|path| write(&top, path, ""));
    let read = || Index::read(&top.join("repo"), &places);
    for path in agents {
        assert_eq!(read().agent("x").unwrap().path, top.join(path));
        fs::remove_file(top.join(path)).unwrap();
    }
    for path in skills {
        assert_eq!(read().skill("x").unwrap().path, top.join(path));
        fs::remove_file(top.join(path)).unwrap();
    }
    assert!(read().agent("x").is_none() && read().skill("x").is_none());
}

#[test]
fn copilots_agents_have_its_extension_and_no_subfolder() {
    let (_dir, top) = scratch();
    let root = top.join("repo");
    write(&root, ".github/agents/plain.agent.md", "");
    write(&root, ".github/agents/named.agent.md", "---\nname: reviewer\ndescription: D\n---\n");
    write(&root, ".github/agents/titled.agent.md", "---\nname: Code Reviewer\nmode: [x]\n---\n");
    write(&root, ".github/agents/README.md", "");
    write(&root, ".github/agents/deep/below.agent.md", "");
    write(&top, "elsewhere/out.agent.md", "");
    symlink(top.join("elsewhere/out.agent.md"), root.join(".github/agents/out.agent.md")).unwrap();
    let index = Index::read(&root, &Places::default());
    let names: Vec<_> = index.agents.iter().map(|agent| agent.name.as_str()).collect();
    assert_eq!(names, ["reviewer", "plain", "titled"], "a title with a space cannot be called");
    assert_eq!(index.agent("reviewer").unwrap().description, "D");
    let [out] = index.left.agents.as_slice() else { panic!("{:?}", index.left) };
    assert_eq!(
        out.to_string(),
        ".github/agents/out.agent.md is a link out of the project, which is not followed"
    );
    assert_eq!(out.name("md").as_deref(), Some("out"));
}

#[test]
fn tokens_are_missing_until_they_exist() {
    let (_dir, root) = scratch();
    let fact = || facts::decide("identity.tokens_missing", &BTreeMap::new(), &root).unwrap();
    assert_eq!(
        (fact().value, fact().reason),
        (true, "docs/design/identity/tokens.json does not exist".to_owned())
    );
    write(&root, facts::TOKENS, "{}");
    assert_eq!((fact().value, fact().reason), (false, "docs/design/identity/tokens.json exists".to_owned()));
    assert_eq!(facts::decide("story.ui_ture", &BTreeMap::new(), &root), None);
    for (name, _) in superpower::condition::FACTS {
        assert!(facts::decide(name, &BTreeMap::new(), &root).is_some(), "{name}");
    }
}

#[test]
fn the_current_story_is_the_named_or_a_matching_one() {
    let (_dir, root) = scratch();
    let ui = |pairs: &[(&str, &str)]| facts::decide("story.ui_true", &inputs(pairs), &root).unwrap();
    assert_eq!((ui(&[]).value, ui(&[]).reason.as_str()), (false, "no story matches yet"));
    write(&root, "docs/stories/_template.md", "---\nui: true\n---\n");
    assert!(!ui(&[]).value, "a template is no story");
    write(
        &root,
        "docs/stories/checkout/pay-1/Story.md",
        "---\nepic: checkout\nstory_slug: pay\nui: false\n---\n",
    );
    write(
        &root,
        "docs/stories/checkout/cart-1/Story.md",
        "---\nepic: checkout\nstory_slug: cart\nui: true\n---\n",
    );
    write(&root, "docs/stories/mail.md", "---\nepic: mail\n---\n");
    assert!(!ui(&[("feature_slug", "pay")]).value);
    assert_eq!(
        ui(&[("feature_slug", "pay")]).reason,
        "docs/stories/checkout/pay-1/Story.md does not have ui: true"
    );
    assert!(ui(&[("feature_slug", "cart")]).value);
    assert!(ui(&[("story_slug", "cart-1")]).value, "by its directory");
    assert!(ui(&[("epic", "checkout")]).value, "any of several");
    assert!(!ui(&[("epic", "mail")]).value);
    assert!(ui(&[("epic", "nothing-like-it")]).value, "else every story");
    assert!(
        !ui(&[("story", "docs/stories/checkout/pay-1"), ("epic", "checkout")]).value,
        "the named one alone"
    );
    assert!(ui(&[("story", "checkout/cart-1/Story.md")]).value);
    assert!(ui(&[("story", "../outside"), ("feature_slug", "cart")]).value, "no way out of the project");
}

#[test]
fn a_spike_branch_is_recognised_without_git() {
    let (_dir, top) = scratch();
    let root = top.join("repo/pkg");
    fs::create_dir_all(&root).unwrap();
    let fact = || facts::decide("branch.not_spike", &BTreeMap::new(), &root).unwrap();
    assert!(fact().value, "no repository");
    write(&top, "repo/.git/HEAD", "ref: refs/heads/spike/login\n");
    assert_eq!((fact().value, fact().reason.as_str()), (false, "the branch is spike/login"));
    write(&top, "repo/.git/HEAD", "ref: refs/heads/main\n");
    assert!(fact().value);
    write(&top, "repo/.git/HEAD", "0123456789012345678901234567890123456789\n");
    assert_eq!((fact().value, fact().reason.as_str()), (true, "HEAD is detached"));
    // A linked work tree, whose HEAD is elsewhere.
    fs::remove_dir_all(top.join("repo/.git")).unwrap();
    write(&top, "main/.git/worktrees/repo/HEAD", "ref: refs/heads/spike/tree\n");
    write(&top, "repo/.git", "gitdir: ../main/.git/worktrees/repo\n");
    assert_eq!(fact().reason, "the branch is spike/tree");
}

#[test]
fn expected_files_must_have_been_written_since() {
    let (_dir, top) = scratch();
    let root = top.join("repo");
    write(&root, "docs/old.md", "");
    write(&root, "docs/specs/a/TASKS.md", "");
    let old = std::time::SystemTime::now() + std::time::Duration::from_secs(60);
    let globs = |list: &[&str]| list.iter().map(|glob| (*glob).to_owned()).collect::<Vec<_>>();
    let past = std::time::SystemTime::UNIX_EPOCH;
    let unmet = |list: &[&str], since| expects::files_written_since(&root, &globs(list), since);
    assert!(
        unmet(&["docs/old.md", "docs/**/TASKS.md", "docs/specs/*/T*", "./docs/{old,new}.md"], past)
            .is_empty()
    );
    assert_eq!(unmet(&["docs/old.md", "docs/*/TASKS.md"], old), ["docs/old.md", "docs/*/TASKS.md"]);
    assert_eq!(unmet(&["docs/*/TASKS.md"], past), ["docs/*/TASKS.md"], "a star stays in its folder");
    assert_eq!(unmet(&["docs"], past), ["docs"], "a folder is no file");
    write(&top, "outside.md", "");
    symlink(top.join("outside.md"), root.join("link.md")).unwrap();
    let out = ["../outside.md", "link.md", "*.md", &format!("{}/outside.md", top.display())];
    assert_eq!(unmet(&out, past), out);
    write(&root, "odd[1].md", "");
    assert!(unmet(&["odd[1].md"], past).is_empty(), "a name that looks like a glob");
}
