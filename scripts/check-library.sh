#!/bin/sh
# The library needs nothing but Lua's C API and the C library: no symbol of Neovim (its option structs change with
# every version) and none of libuv. So one binary serves every version.
#
#   check-library.sh LIBRARY
set -eu
. "$(dirname "$0")/lib.sh"
[ $# = 1 ] && [ -f "$1" ] || die "usage: check-library.sh LIBRARY"
have nm || die 'nm is missing: install binutils'
case $1 in
  *.dylib) undefined=$(nm -u "$1" | sed 's/^_//') ;;
  *) undefined=$(nm -D --undefined-only "$1" | awk '$1 == "U" { print $2 }') ;; # weak ones (w) are nobody's need
esac
bad=$(printf '%s\n' "$undefined" | grep -E '^(nvim_|uv_|luv_)' || true)
[ -z "$bad" ] || die "$1 needs symbols of the editor: $bad"
case $1 in
  *.so)
    bad=$(printf '%s\n' "$undefined" | grep -v -E '^(lua_|luaL_)|@(GLIBC|GCC)_' || true)
    [ -z "$bad" ] || die "$1 needs symbols that are neither Lua's nor the C library's: $bad" ;;
esac
printf '%s\n' "$undefined" | grep -q '^lua_' || die "$1 needs nothing of Lua: is it the library?"
say "$(printf '%s\n' "$undefined" | grep -c '^lua') symbols of Lua, none of the editor or libuv"
