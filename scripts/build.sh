#!/bin/sh
# Builds the library and the programs, and installs them under lib/. Needs Rust; an editor that is there makes the tags of the help page.
set -eu
. "$(dirname "$0")/lib.sh"
cd "$root"
cargo_works || no_cargo
cargo build --release --locked >&2
# A manager of plugins makes the help's tags too; for a clone by hand it is done here, where there is an editor.
if have nvim; then nvim -u NONE -i NONE -n --headless -c "helptags doc" -c 'qa!' >&2 || :; fi
target=${CARGO_TARGET_DIR:-$root/target}
# The command line is linked without Lua: in a folder of its own, neither build undoes the other.
cargo build --release --locked --no-default-features --features cli --bin superpower --target-dir "$target/command" >&2
"$root/scripts/install-library.sh" "$target/release" "$root/lib" "$target/command/release"
