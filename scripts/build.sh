#!/bin/sh
# Builds the library and installs it under lib/. Needs Rust; an editor that is there makes the tags of the help page.
set -eu
. "$(dirname "$0")/lib.sh"
cd "$root"
cargo_works || no_cargo
cargo build --release --locked >&2
# A manager of plugins makes the help's tags too; for a clone by hand it is done here, where there is an editor.
if have nvim; then nvim -u NONE -i NONE -n --headless -c "helptags doc" -c 'qa!' >&2 || :; fi
"$root/scripts/install-library.sh" "${CARGO_TARGET_DIR:-$root/target}/release" "$root/lib"
