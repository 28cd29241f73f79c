#!/usr/bin/env bash
# Kills the real binary at its own writes, and stops the machine in the simulation: far more often than the tests do.
#   benches/kills.sh [KILLS [STOPS [PIT]]]     10,000 kills -9 (half of them in each of two ways), 1,000,000 stops, 200 kills
#                                              beside PIT; 0 leaves one out
# RALPH_PROFILE=dev takes the binaries that are there for the tests.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
kills=${1:-10000} stops=${2:-1000000} pit=${3:-200}
profile=${RALPH_PROFILE:-release}

cargo test --profile "$profile" --locked --lib --test e2e --no-run

timed() {   # what, library or test binary, filter
    local start=$SECONDS
    cargo test --profile "$profile" --locked $2 -- --include-ignored "$3"
    echo "$1: $((SECONDS - start)) s"
}
if ((stops)); then RALPH_STOPS=$stops timed "$stops stops" --lib engine::tests::crash::hundreds_of_stops; fi
if ((kills)); then RALPH_KILLS=$((kills / 2)) timed "$kills kills" '--test e2e' kill_matrix; fi
if ((pit)); then RALPH_PIT_KILLS=$pit timed "$pit kills while PIT judges" '--test e2e' killed_while_pit; fi
