#!/bin/bash
# Makes assets/demo.svg, the picture at the head of the README: the demo in a real terminal (tmux), played by keys.
#
#   picture.sh [OUT.svg]
set -eu
. "$(dirname "$0")/lib.sh"
out=${1:-$root/assets/demo.svg}
have tmux || die 'tmux is missing: install tmux'
frames=$(mktemp -d)
tmux=(tmux -L "superpower-picture-$$" -f /dev/null)
trap '"${tmux[@]}" kill-server 2>/dev/null; rm -rf "$frames"' EXIT
list=()

screen() { "${tmux[@]}" capture-pane -p -t demo; }

# await WORDS [SECONDS]: until the words are on the screen.
await() {
  for _ in $(seq $((${2:-30} * 10))); do
    screen | grep -qF -- "$1" && return
    sleep 0.1
  done
  screen >&2
  die "\"$1\" did not appear"
}

# frame SECONDS: keeps what is on the screen now, to be shown for so long.
frame() {
  local file
  file=$frames/$((${#list[@]} / 2 + 1))
  "${tmux[@]}" capture-pane -e -p -t demo >"$file"
  list+=("$1" "$file")
}

keys() { "${tmux[@]}" send-keys -t demo "$@"; }

"${tmux[@]}" new-session -d -s demo -x 112 -y 34 \
  "env COLORTERM=truecolor TERM=tmux-256color DEMO_DIR=$frames/demo DEMO_PACE=2 $root/scripts/demo.sh"
"${tmux[@]}" set -g default-terminal tmux-256color \; set -ga terminal-overrides ',*:Tc' \; set -g status off

. "$root/scripts/picture-steps.sh"

keys ':qa!' Enter
mkdir -p "$(dirname "$out")"
"$root/scripts/picture.py" "$out" "$still" "${list[@]}"
say "wrote $out"
