#!/bin/bash
# Makes the README's pictures: the whole demo in a real terminal (tmux), played by keys, as demo.svg, and beside it
# dashboard.svg and plan.svg.
#
#   picture.sh [DIR]      DIR is assets/ unless it is given; KEEP=DIR keeps the screens that they are made of
#   DEMO_PACE=2           seconds a stage takes
set -eu
. "$(dirname "$0")/lib.sh"
out=${1:-$root/assets}
have tmux || die 'tmux is missing: install tmux'
frames=$(mktemp -d)
tmux=(tmux -L "superpower-picture-$$" -f /dev/null)
trap '"${tmux[@]}" kill-server 2>/dev/null || true; rm -rf "$frames"' EXIT
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

"${tmux[@]}" new-session -d -s demo -x 116 -y 30 \
  "env COLORTERM=truecolor TERM=tmux-256color DEMO_DIR=$frames/demo DEMO_PACE=${DEMO_PACE:-2} $root/scripts/demo.sh"
"${tmux[@]}" set -g default-terminal tmux-256color \; set -ga terminal-overrides ',*:Tc' \; set -g status off

# A gate's keys count only a moment after its window opened; until then its footer is dim.
approve() {
  await 'a approve'
  sleep 0.6
  frame "$1"
  keys a
}

await 'new-ui-feature' 60
sleep 1.2
frame 2
approve 4
main=$((${#list[@]} / 2))
await '3/13'
sleep 1.2
frame 1.5
await '4/13'
sleep 1.2
frame 1.5
approve 3
await '6/13'
sleep 1
frame 1.5
await 'a approve'
sleep 0.6
keys c
await 'Request changes'
keys 'Make the actions purple, like ripe plums'
sleep 0.5
frame 3
keys Escape ':w' Enter
await '6/13'
await 'a approve'
approve 3
await '10/13 · gate'
approve 2
await '12/13'
sleep 1.2
frame 1.5
await 'complete in'
sleep 0.5
frame 4

mkdir -p "$out"
# still NAME: what is on the screen now, as a picture of its own.
still() {
  "${tmux[@]}" capture-pane -e -p -t demo >"$frames/$1"
  "$root/scripts/picture.py" "$out/$1.svg" 1 1 "$frames/$1"
}
keys ':Superpower run bugfix issue_number=7 description=x' Enter
await 'a approve'
sleep 0.6
keys q
keys ':Superpower' Enter
await ' Active'
sleep 0.3
still dashboard
keys q
keys ':Superpower plan new-ui-feature epic=user-auth' Enter
await 'would happen now'
keys 3j Enter
await 'wireframe-architect, by'
sleep 0.3
still plan
keys q ':qa!' Enter
[ -z "${KEEP:-}" ] || cp -r "$frames" "$KEEP"
"$root/scripts/picture.py" "$out/demo.svg" "$main" "${list[@]}"
say "wrote $out"
