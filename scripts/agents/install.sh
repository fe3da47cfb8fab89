#!/bin/sh
# Installs the agents that are played and recorded, in the versions named here, under .deps/agents.
set -eu
cd "$(dirname "$0")/../.."
claude=2.1.332
opencode=1.18.33
to=.deps/agents
stamp=$to/versions-$claude-$opencode
if [ ! -e "$stamp" ]; then
  command -v npm >/dev/null 2>&1 || { echo 'npm is missing: it installs the agents' >&2; exit 1; }
  # Their native programs need neither Node nor their installation scripts.
  npm install --prefix "$to" --ignore-scripts --no-audit --no-fund --loglevel=error \
    "@anthropic-ai/claude-code@$claude" "opencode-ai@$opencode" >&2
  machine=$(uname -s | tr 'A-Z' 'a-z')-$(uname -m | sed 's/x86_64/x64/; s/aarch64/arm64/')
  mkdir -p "$to/bin"
  ln -sf "../node_modules/@anthropic-ai/claude-code-$machine/claude" "$to/bin/claude"
  ln -sf "../node_modules/opencode-$machine/bin/opencode" "$to/bin/opencode"
  touch "$stamp"
fi
echo "$PWD/$to/bin"
