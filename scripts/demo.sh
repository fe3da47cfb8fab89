#!/bin/sh
# Plays a superpower on a copy of examples/shop. No agent and no key is needed.
#
#   demo.sh [NAME [KEY=VALUE ...]]    opens Neovim and starts it there; new-ui-feature, if no name is given
#   demo.sh --headless [NAME ...]     without a terminal: approves at every gate, each time in a new Neovim, and prints
#                                     the log's lines
#   HARNESS=claude demo.sh            with the user's own Claude Code
#   DEMO_DIR=DIR                      where the copy goes; else a new temporary folder. One that is there is opened again
#   DEMO_PACE, DEMO_FAIL, DEMO_STALL, DEMO_ASK: see examples/demo/agent
set -eu
. "$(dirname "$0")/lib.sh"

headless=
if [ "${1:-}" = --headless ]; then headless=yes; shift; fi
have git || die 'git is missing: install git'
nvim=$("$root/scripts/nvim-path.sh")
place=${DEMO_DIR:-$(mktemp -d "${TMPDIR:-/tmp}/superpower-demo.XXXXXX")}
shop=$place/shop
mkdir -p "$place"
if [ ! -d "$shop" ]; then
  cp -R "$root/examples/shop" "$shop"
  rm -rf "$shop/.claude/state" "$shop/.claude/logs"
  git -C "$shop" init -q
  git -C "$shop" add -A
  git -C "$shop" -c user.name=demo -c user.email=demo@localhost -c commit.gpgsign=false commit -qm 'The shop, as it was'
fi

# A real agent needs its own settings, which may lie in the same folders; then only Neovim's name for them changes.
if [ "${HARNESS:-command}" = command ]; then
  for kind in CONFIG DATA STATE CACHE; do
    mkdir -p "$place/xdg/$kind"
    export "XDG_${kind}_HOME=$place/xdg/$kind"
  done
fi
export NVIM_APPNAME=superpower-demo
# Started from a terminal inside Neovim, or by an agent, the demo is still nobody's child.
unset NVIM NVIM_LISTEN_ADDRESS SUPERPOWER_RUN_ID SUPERPOWER_STAGE SUPERPOWER_ATTEMPT

name=${1:-new-ui-feature}
[ $# -eq 0 ] || shift
if [ $# -eq 0 ]; then
  case $name in
    new-ui-feature | api-endpoint)
      set -- epic=user-auth feature_slug=reset-password 'problem_statement="People who forget their password cannot get back in"' ;;
    bugfix) set -- issue_number=7 'description="An item that is no longer sold breaks the total of a cart"' ;;
  esac
fi

cd "$shop"
# edit ARGUMENT...: a Neovim with the demo's configuration; its status is left in $status.
edit() {
  status=0
  "$nvim" "$@" || status=$?
}

if [ "$headless" ]; then
  export DEMO_PACE="${DEMO_PACE:-0.4}"
  edit --headless -u "$root/examples/demo/init.lua" -c "Superpower! run $name $*"
  while [ $status -eq 3 ]; do
    edit --headless -u "$root/examples/demo/init.lua" -c 'Superpower! approve'
  done
else
  # Not by -c, which `:restart` repeats: a second run would begin.
  export DEMO_RUN="$name $*"
  edit -u "$root/examples/demo/init.lua" README.md
fi
say "what was made is in $shop"
# Through this script again: with other folders for Neovim's state, the run's seals would be somebody else's.
if grep -Eq '"status": *"(running|paused)"' .claude/state/squad.json 2>/dev/null; then
  say "the run is not finished; to open it again: DEMO_DIR='$place' '$root/scripts/demo.sh'"
fi
exit $status
