#!/bin/sh
# Puts a built library, and the programs that go with it, where the plugin looks for them.
#
#   install-library.sh FROM TO [FROM_OF_THE_COMMAND_LINE]
#
# Written beside the old one and renamed over it: an editor that has the old one loaded keeps it. Overwriting it in
# place would kill that editor.
set -eu
. "$(dirname "$0")/lib.sh"
[ $# = 2 ] || [ $# = 3 ] || die 'usage: install-library.sh FROM TO [FROM_OF_THE_COMMAND_LINE]'

put() {
  cp "$1" "$2.$$.new"
  mv -f "$2.$$.new" "$2"
}

mkdir -p "$2"
found=
for file in libsuperpower.so libsuperpower.dylib superpower-guard; do
  [ -f "$1/$file" ] || continue
  put "$1/$file" "$2/$file"
  case $file in libsuperpower.*) found=$2/$file ;; esac
done
[ -n "$found" ] || die "no library in $1: run cargo build --release"
if [ $# = 3 ] && [ -f "$3/superpower" ]; then put "$3/superpower" "$2/superpower"; fi
say "installed $found"
