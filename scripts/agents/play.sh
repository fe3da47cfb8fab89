#!/bin/sh
# Runs a command offline, beside a model that is none, with SUPERPOWER_MODEL and SUPERPOWER_AGENTS set for it:
#   play.sh COMMAND [ARGUMENT...]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
if [ "${1:-}" != --inside ]; then
  SUPERPOWER_AGENTS=$("$here/install.sh")
  export SUPERPOWER_AGENTS
  exec python3 "$here/offline.py" sh "$0" --inside "$@"
fi
shift
work=$(mktemp -d)
python3 "$here/model.py" --log "$work/requests.jsonl" >"$work/address" &
model=$!
trap 'kill $model 2>/dev/null; rm -rf "$work"' EXIT INT TERM
while [ ! -s "$work/address" ]; do sleep 0.05; done
SUPERPOWER_MODEL=$(cat "$work/address")
SUPERPOWER_REQUESTS=$work/requests.jsonl
export SUPERPOWER_MODEL SUPERPOWER_REQUESTS
"$@"
