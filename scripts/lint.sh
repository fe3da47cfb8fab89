#!/bin/bash
# Formatting and lints of both languages. `lint.sh lua` or `lint.sh rust` for one of them; `lint.sh fmt` formats.
# A tool that cannot be had on this machine is named as skipped; everything else that is wrong fails.
set -u
. "$(dirname "$0")/lib.sh"
cd "$root" || exit 1
mapfile -t lua < <(git ls-files --cached --others --exclude-standard '*.lua' | while read -r file; do [ -f "$file" ] && echo "$file"; done)
failed=0

# check NAME COMMAND...: 69 means that the tool is not to be had.
check() {
  local name=$1 status
  shift
  "$@"
  status=$?
  case $status in
    0) ;;
    69) echo "skipped: $name" ;;
    *) echo "failed: $name"; failed=1 ;;
  esac
}

what=${1:-all}
if [ "$what" = fmt ]; then
  cargo fmt && scripts/stylua.sh "${lua[@]}"
  exit
fi
if [ "$what" = all ] || [ "$what" = rust ]; then
  check 'cargo fmt' cargo fmt --check
  check 'clippy, without the bridge' cargo clippy --quiet --locked --no-default-features --features cli --all-targets -- -D warnings
  check 'clippy, with the bridge' cargo clippy --quiet --locked --all-targets -- -D warnings
fi
if [ "$what" = all ] || [ "$what" = lua ]; then
  check stylua scripts/stylua.sh --check "${lua[@]}"
  check luacheck scripts/luacheck.sh --quiet --no-color "${lua[@]}"
fi
exit $failed
