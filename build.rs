//! macOS resolves Lua's functions when the editor loads the library, and must be told so; Linux needs nothing. Tests are
//! told whether what others wrote is there: declarations, and recordings of agents.

fn main() {
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("macos") {
        for argument in ["-undefined", "dynamic_lookup"] {
            println!("cargo::rustc-cdylib-link-arg={argument}");
        }
    }
    println!("cargo::rerun-if-changed=build.rs");
    // Tests of what others wrote are counted as skipped where that is not beside the repository.
    println!("cargo::rustc-check-cfg=cfg(shared)");
    let root = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    let beside = |name: &str| std::path::Path::new(&root).join("../shared").join(name);
    let folders = ["superpowers", "taffy", "harness-transcripts"].map(beside);
    if folders.iter().all(|folder| folder.is_dir()) {
        println!("cargo::rustc-cfg=shared");
        for folder in folders {
            println!("cargo::rerun-if-changed={}", folder.display());
        }
    }
}
