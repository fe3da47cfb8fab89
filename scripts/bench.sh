#!/bin/sh
# Measures what must be quick: the editor's half on the Neovim that `make nvim-path` names and the installed library,
# what the main loop may call, the editing of declarations beside yaml-language-server, where it can be installed, and
# what a driver process costs, and what a stage costs, beside a bare spawn and, where it can be installed, beside another tool of this kind.
set -eu
. "$(dirname "$0")/lib.sh"
cd "$root"
nvim=$("$root/scripts/nvim-path.sh")
"$nvim" -u NONE -i NONE -n --headless -l scripts/bench.lua "$@"
# An agent that floods: what the main loop feels of it, and how fast and in how much memory a gigabyte of it is read.
"$nvim" -u NONE -i NONE -n --headless -l scripts/bench-stream.lua
cargo bench --locked --quiet --profile torture --no-default-features --bench stream -- 1024
PEER=$("$root/scripts/peer.sh") || PEER=
export PEER
"$nvim" -u NONE -i NONE -n --headless -l scripts/bench-editing.lua
cargo bench --locked --quiet --profile torture --no-default-features --bench declarations
cargo bench --locked --quiet --profile torture --no-default-features --bench lanes
# A driver process: what it costs beside driving in the editor.
cargo bench --locked --quiet --profile torture --no-default-features --features cli --bench driver
tool=
if pip_install checkpointflow==1.10.0 2>/dev/null; then tool=$(venv)/bin/cpf; fi
exec cargo bench --locked --quiet --profile torture --no-default-features --bench run -- $tool
