#!/bin/bash
# The long versions of the tests in Rust: 100,000 random walks of the machine, 1,000 runs that are killed at random and
# one for every write that there is, 1,000 rounds of a hundred deciders, 1,000 editors that die with their agents, 1,000
# orders of writes, looks and decisions at gates, agents that try to get away.
# Hours, all together; a word in the names of those that are wanted picks them: torture.sh crash
set -eu
. "$(dirname "$0")/lib.sh"
cd "$root"
export SUPERPOWER_LONG=1
long='planted_runs:: machine::random crash:: race::of_many survivors:: escapes:: launches:: agent_processes::a_flood checkpoint_lock:: interleaved:: driver_kills::'
if [ $# -gt 0 ]; then long=$*; fi
if have cargo-nextest; then
  filter=$(printf ' | test(~%s)' $long)
  exec cargo nextest run --locked --no-default-features --cargo-profile torture --profile torture -E "${filter# | }"
fi
for name in $long; do
  cargo test --locked --no-default-features --profile torture -- --test-threads=1 "$name"
done
