#!/usr/bin/env bash
# Kills the real binary at its own writes, and stops the machine in the simulation: far more often than the tests do.
#   benches/kills.sh [KILLS [STOPS [PIT]]]     10,000 kills -9 in each of two ways, 1,000,000 stops, 200 kills beside PIT
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
kills=${1:-10000} stops=${2:-1000000} pit=${3:-200}
cargo test --release --locked --lib --test e2e --no-run
SECONDS=0
RALPH_STOPS=$stops cargo test --release --locked --lib -- engine::tests::crash::stops_at_random
echo "$stops stops: $SECONDS s"
SECONDS=0
RALPH_KILLS=$kills cargo test --release --locked --test e2e -- kill_matrix
echo "$kills kills in each of two ways (each write in each way at most): $SECONDS s"
SECONDS=0
RALPH_PIT_KILLS=$pit cargo test --release --locked --test e2e -- killed_while_pit
echo "$pit kills while PIT judges: $SECONDS s"
