#!/bin/sh
# The Lua specs on one Neovim:  specs.sh [0.10|0.11|0.12|default] [WORD...]   (tests/lua/run.lua tells the rest)
set -eu
. "$(dirname "$0")/lib.sh"
version=default
case ${1:-} in 0.1[0-9] | default) version=$1; shift ;; esac
if [ "$version" = default ]; then nvim=$("$root/scripts/nvim-path.sh"); else nvim=$("$root/scripts/nvim-path.sh" "$version"); fi
echo "Neovim $(nvim_version "$nvim")"
cd "$root"
exec "$nvim" -u NONE -i NONE -n --headless -l tests/lua/run.lua "$@"
