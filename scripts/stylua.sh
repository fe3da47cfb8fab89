#!/bin/sh
# stylua with these arguments; from PATH, else npm's package under .deps. Exit status 69 where it cannot be had.
set -eu
. "$(dirname "$0")/lib.sh"
version=2.5.2
bin=$deps/npm/node_modules/.bin/stylua
if have stylua && stylua --version | grep -qx "stylua $version"; then
  bin=stylua # another version formats otherwise
elif [ ! -x "$bin" ]; then
  have npm || { say 'stylua: npm is missing'; exit 69; }
  npm install --silent --no-audit --no-fund --prefix "$deps/npm" "@johnnymorganz/stylua-bin@$version" >&2 || exit 69
fi
cd "$root"
exec "$bin" "$@"
