#!/bin/sh
# Sees to it that there is a library under lib/: built where there is none, or where its sources are newer. Without a
# cargo that works, the one that is there is used.
set -eu
. "$(dirname "$0")/lib.sh"
cd "$root"
built=$(ls lib/libsuperpower.so lib/libsuperpower.dylib 2>/dev/null | head -n 1) || :
if [ -n "$built" ] && [ -z "$(find src build.rs Cargo.toml Cargo.lock -newer "$built" | head -n 1)" ]; then exit 0; fi
if cargo_works; then
  exec "$root/scripts/build.sh"
elif [ -n "$built" ]; then
  say "cargo is missing or does not work: $built is used as it is, though its sources are newer"
else
  no_cargo
fi
