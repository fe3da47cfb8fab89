#!/bin/sh
# Measures what must be quick, on the Neovim that `make nvim-path` names and the installed library.
set -eu
. "$(dirname "$0")/lib.sh"
cd "$root"
exec "$("$root/scripts/nvim-path.sh")" -u NONE -i NONE -n --headless -l scripts/bench.lua "$@"
