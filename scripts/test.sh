#!/bin/bash
# Everything that must hold, step by step, with what failed in full; ends with `N passed, N failed`, the Rust and Lua
# tests added up. A step that fails without counting tests counts as one failure.
#
#   test.sh              the Lua specs on $NVIM, else on Neovim 0.11
#   test.sh --versions   the Lua specs on 0.10, 0.11 and 0.12
set -u
. "$(dirname "$0")/lib.sh"
cd "$root" || exit 1
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
passed=0 failed=0 skipped=0

# add PASSED FAILED SKIPPED
add() { passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + ${3:-0})); }

# first PATTERN FILE: the number before the word, 0 if there is none.
number() { grep -oE "[0-9]+ $1" "$2" | tail -n 1 | grep -oE '^[0-9]+' || echo 0; }

# step NAME COUNTER COMMAND...: runs a step. COUNTER names the function that reads its log, or `-`.
step() {
  local name=$1 counter=$2 log="$logs/step" started=$SECONDS status before
  shift 2
  printf '== %s\n' "$name"
  if [ "$counter" = - ]; then "$@" >"$log" 2>&1; else "$@" 2>&1 | tee "$log" | "show_$counter"; fi </dev/null
  status=${PIPESTATUS[0]}
  [ "$counter" != - ] && status=$(cat "$logs/status")
  before=$failed
  if [ "$counter" != - ]; then "count_$counter" "$log"; fi
  if [ "$status" != 0 ]; then
    [ "$failed" != "$before" ] || add 0 1
    [ "$counter" != - ] || tail -n 200 "$log"
    printf '   FAILED (status %s, %d s)\n' "$status" $((SECONDS - started))
  else
    [ "$counter" != - ] || grep -E '^skipped: ' "$log"
    printf '   ok (%d s)\n' $((SECONDS - started))
  fi
}

# The status of a counted step goes through a file: a pipe shows the output while it runs.
noting() { "$@"; echo $? >"$logs/status"; }

show_rust() { grep --line-buffered -vE '^ +PASS |^test .* ok$|^ *$|^running |^ +Compiling |^ +Running ' || true; }
count_rust() {
  if grep -q 'Nextest run ID' "$1"; then
    local summary
    summary=$(grep -E '^ +Summary ' "$1" | tail -n 1)
    echo "$summary" >"$logs/summary"
    add "$(number passed "$logs/summary")" "$(($(number failed "$logs/summary") + $(number 'timed out' "$logs/summary")))" \
      "$(number skipped "$logs/summary")"
  else
    local line
    while read -r line; do
      echo "$line" >"$logs/summary"
      add "$(number passed "$logs/summary")" "$(number failed "$logs/summary")" "$(number ignored "$logs/summary")"
    done < <(grep -E '^test result: ' "$1")
  fi
}

show_lua() { cat; }
count_lua() {
  grep -E '^[0-9]+ passed, [0-9]+ failed' "$1" | tail -n 1 >"$logs/summary"
  add "$(number passed "$logs/summary")" "$(number failed "$logs/summary")" "$(number skipped "$logs/summary")"
}

rust_tests() {
  if cargo nextest --version >/dev/null 2>&1; then
    cargo nextest run --locked --no-default-features --features cli --no-fail-fast --color never
  else
    cargo test --locked --no-default-features --features cli --no-fail-fast --color never
  fi
}

library() { ls "$root"/lib/libsuperpower.so "$root"/lib/libsuperpower.dylib 2>/dev/null | head -n 1; }

versions=(0.11)
if [ "${1:-}" = --versions ]; then versions=(0.10 0.11 0.12); elif [ -n "${NVIM:-}" ] && [ ! -S "$NVIM" ]; then versions=(default); fi

step 'formatting and lints of Rust' - scripts/lint.sh rust
step 'tests in Rust' rust noting rust_tests
step 'a build whose panics abort is refused' - scripts/check-panic.sh
step 'the library, as released' - scripts/build.sh
step "the library's symbols" - scripts/check-library.sh "$(library)"
for version in "${versions[@]}"; do
  SUPERPOWER_NATIVE=$(library) step "specs in Lua, Neovim $version" lua noting scripts/specs.sh "$version"
done
# What is about runs once more, with a process that drives them; the others drive in the editor.
SUPERPOWER_SPEC_DRIVER=process SUPERPOWER_NATIVE=$(library) step "specs in Lua with a driver, Neovim ${versions[-1]}" lua noting \
  scripts/specs.sh "${versions[-1]}" api_spec follow_spec gate_spec progress_spec questions_spec review_changes_spec trust_spec views_spec
step 'formatting and lints of Lua' - scripts/lint.sh lua
step 'the documentation is what the code says' - scripts/docs.sh --check

printf '\n'
if [ "$skipped" -gt 0 ]; then
  printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
else
  printf '%d passed, %d failed\n' "$passed" "$failed"
fi
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
