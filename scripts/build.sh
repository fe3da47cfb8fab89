#!/bin/sh
# Builds the library and installs it under lib/. Needs Rust, and nothing of the editor.
set -eu
. "$(dirname "$0")/lib.sh"
cd "$root"
have cargo || die 'cargo is missing: install Rust 1.89 or later'
cargo build --release --locked >&2
"$root/scripts/install-library.sh" "${CARGO_TARGET_DIR:-$root/target}/release" "$root/lib"
