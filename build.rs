//! macOS resolves Lua's functions when the editor loads the library, and must be told so; Linux needs nothing.

fn main() {
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("macos") {
        for argument in ["-undefined", "dynamic_lookup"] {
            println!("cargo::rustc-cdylib-link-arg={argument}");
        }
    }
    println!("cargo::rerun-if-changed=build.rs");
}
