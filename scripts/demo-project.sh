# Shared by scripts/demo and scripts/demo-headless: a copy of the shop to play in. Sourced, not run.
# Sets $place (a new temporary folder), $shop (the copy in it, with one commit) and $nvim, and keeps Neovim to them.

. "$(dirname "$0")/lib.sh"

nvim=$("$root/scripts/nvim-path.sh")
place=$(mktemp -d "${TMPDIR:-/tmp}/superpower-demo.XXXXXX")
shop=$place/shop
cp -R "$root/examples/shop" "$shop"
rm -rf "$shop/.claude/state" "$shop/.claude/logs"
have git || die 'git is missing: install git'
git -C "$shop" init -q
git -C "$shop" add -A
git -C "$shop" -c user.name=demo -c user.email=demo@localhost -c commit.gpgsign=false commit -qm 'The shop, as it was'

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
run="$name $*"
