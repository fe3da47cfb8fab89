#!/bin/sh
# yaml-language-server, which our help in the editor is measured beside and has to live beside: prints its program, and
# installs it under .deps if need be. Fails with a word where it cannot be had.
set -eu
. "$(dirname "$0")/lib.sh"
version=1.25.0
to=$deps/peer-$version
bin=$to/node_modules/.bin/yaml-language-server
if [ ! -e "$bin" ]; then
  have node && have npm || die 'yaml-language-server is left out: npm, which installs it, is missing'
  npm install --prefix "$to" --ignore-scripts --no-audit --no-fund --loglevel=error "yaml-language-server@$version" >&2 ||
    die 'yaml-language-server is left out: npm could not install it'
fi
printf '%s\n' "$bin"
