#!/bin/sh
# Checks the annotations of the Lua files with emmylua_check: fields and types that there are not, fields and arguments
# that are missing. The kinds that .emmyrc.json leaves out say more of the checker than of the code.
#
# The checker takes some ten minutes to build, so this is no part of `make lint`. It is put under .deps, unless it is on PATH.
set -eu
. "$(dirname "$0")/lib.sh"
cd "$root"
check=$(command -v emmylua_check) || check=$deps/types/bin/emmylua_check
if [ ! -x "$check" ]; then
  say 'installing emmylua_check under .deps: some minutes'
  CARGO_TARGET_DIR=$deps/types/target cargo install --quiet --locked --root "$deps/types" emmylua_check@0.25.1 ||
    die 'emmylua_check could not be installed'
  rm -rf "$deps/types/target"
fi
# Not every build of Neovim comes with the types of vim.uv.
runtime() { "$1" --clean --headless '+lua io.write(vim.env.VIMRUNTIME)' +qa 2>/dev/null; }
VIMRUNTIME=$(runtime "$("$root/scripts/nvim-path.sh")")
[ -e "$VIMRUNTIME/lua/uv/_meta.lua" ] || VIMRUNTIME=$(runtime "$("$root/scripts/nvim-path.sh" 0.12)")
export VIMRUNTIME
exec "$check" --warnings-as-errors --severity warn .
