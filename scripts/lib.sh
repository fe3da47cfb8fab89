# Shared by the scripts: where things are, and what is put under .deps. Sourced, not run.
# Everything is said on standard error; standard output belongs to the answer.

root=$(cd "$(dirname "$0")/.." && pwd)
deps=$root/.deps
PATH=$PATH:${HOME:-/}/.cargo/bin # where rustup puts cargo, also for those whose shell does not say so

say() { printf '%s\n' "$*" >&2; }
die() { say "$*"; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }

# cargo_works: is there a cargo, and does it start? The one of rustup needs the tool chain under its own home.
cargo_works() { cargo --version >/dev/null 2>&1; }

# no_cargo: says so, with what cargo itself said, and ends.
no_cargo() {
  have cargo || die 'cargo is missing: install Rust 1.89 or later'
  die "cargo does not work: $(cargo --version 2>&1 | sed -n 1p); install Rust 1.89 or later"
}

# as_root COMMAND...: run a command that needs root, where we can.
as_root() {
  if [ "$(id -u)" = 0 ]; then "$@" >&2; elif have sudo && sudo -n true 2>/dev/null; then sudo -n "$@" >&2; else return 1; fi
}

# venv: the Python environment that holds tools; prints its path.
venv() {
  if [ ! -x "$deps/venv/bin/pip" ]; then
    have python3 || die 'python3 is missing: install it with its venv module (Debian: python3-venv)'
    mkdir -p "$deps"
    rm -rf "$deps/venv"
    python3 -m venv "$deps/venv" >&2 || die 'python3 has no venv module: install python3-venv, or set NVIM to a Neovim of 0.10 or later'
  fi
  printf '%s\n' "$deps/venv"
}

# pip_install PACKAGE...: install into the venv, saying little.
pip_install() {
  # Without the venv there is nothing to go on with: pip of the machine itself is not ours to change.
  tools=$(venv) || return 1
  "$tools/bin/pip" install --quiet --disable-pip-version-check "$@" >&2
}

# nvim_version PROGRAM: prints MAJOR.MINOR.PATCH, or fails where the program is not a Neovim.
nvim_version() {
  "$1" --version 2>/dev/null | sed -n '1s/^NVIM v\([0-9][0-9.]*\).*/\1/p' | grep .
}

# new_enough PROGRAM: is it a Neovim of 0.10 or later?
new_enough() {
  v=$(nvim_version "$1") || return 1
  major=${v%%.*}; rest=${v#*.}; minor=${rest%%.*}
  [ "$major" -gt 0 ] || [ "$minor" -ge 10 ]
}
