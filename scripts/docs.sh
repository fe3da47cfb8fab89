#!/bin/sh
# Writes the generated parts of doc/superpower.txt, and schema/options.json; with --check, fails where they are not what
# the code says.
set -eu
. "$(dirname "$0")/lib.sh"
cd "$root"
exec "$("$root/scripts/nvim-path.sh")" -u NONE -i NONE -n --headless -l scripts/docs.lua "$@"
