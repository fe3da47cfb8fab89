#!/bin/sh
# The crate refuses to be built with panics that abort: they would end the editor.
set -eu
. "$(dirname "$0")/lib.sh"
cd "$root"
if out=$(cargo rustc --quiet --locked --no-default-features --lib -- -C panic=abort 2>&1); then
  die 'the crate was built with panic = "abort"'
fi
case $out in *'build with panic = "unwind"'*) ;; *) die "refused, but not for its panics: $out" ;; esac
