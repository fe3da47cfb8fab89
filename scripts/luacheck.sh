#!/bin/sh
# luacheck with these arguments; from PATH, else Debian's package unpacked under .deps and run by Neovim, which needs
# no root and no other Lua. Exit status 69 where it cannot be had.
set -eu
. "$(dirname "$0")/lib.sh"
cd "$root"
have luacheck && exec luacheck "$@"
place=$deps/luacheck
if [ ! -d "$place/usr" ]; then
  have apt-get && have dpkg-deb || { say 'luacheck: neither on PATH nor to be had from Debian'; exit 69; }
  mkdir -p "$place/deb"
  fetch() (cd "$place/deb" && apt-get -q -o APT::Sandbox::User="$(id -un)" download lua-check lua-argparse lua-filesystem >&2)
  fetch || { as_root apt-get -q update && fetch; } || { rm -rf "$place"; say 'luacheck: could not be fetched'; exit 69; }
  for deb in "$place"/deb/*.deb; do dpkg-deb -x "$deb" "$place"; done
  rm -rf "$place/deb"
fi
cat >"$place/main.lua" <<'LUA'
local place = arg[0]:gsub("/main%.lua$", "")
package.path = place .. "/usr/share/lua/5.1/?.lua;" .. place .. "/usr/share/lua/5.1/?/init.lua;" .. package.path
for _, so in ipairs(vim.fn.glob(place .. "/usr/lib/*/lua/5.1/lfs.so", true, true)) do
  package.cpath = so:gsub("lfs%.so$", "?.so") .. ";" .. package.cpath
end
os.exit = function(code) io.stdout:flush() vim.cmd.cquit({ count = code == true and 0 or tonumber(code) or 1, bang = true }) end
require("luacheck.main")
LUA
exec "$("$root/scripts/nvim-path.sh")" -u NONE -i NONE -n --headless -l "$place/main.lua" "$@"
