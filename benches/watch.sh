#!/usr/bin/env bash
# The price of the guard around programs: ralph's own time for an iteration with ten packages, by two binaries that take
# turns in one run. The first is from before a change, the second from after it.
#
#   benches/watch.sh BEFORE AFTER [--rounds N] [--packages N] [--iterations N]
#
# Each round runs benches/loop.sh once with each binary. The last line is the difference of the medians.
set -euo pipefail

[[ $# -ge 2 ]] || { sed -n '2,/^set -/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
before=$(realpath "$1") after=$(realpath "$2")
shift 2
rounds=5 packages=10 iterations=30
while (($#)); do
    case $1 in
    --rounds) rounds=${2:?} ;;
    --packages) packages=${2:?} ;;
    --iterations) iterations=${2:?} ;;
    *) exit 2 ;;
    esac
    shift 2
done
loop=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/loop.sh

own() {   # binary: its own time for an iteration, ms
    "$loop" --ralph "$1" --packages "$packages" --iterations "$iterations" --rounds 1 | sed -n 's/^ratio *ralph \([0-9.]*\) ms.*/\1/p'
}
median() { sort -n | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'; }

old=() new=()
for ((round = 1; round <= rounds; round++)); do
    old+=("$(own "$before")")
    new+=("$(own "$after")")
    [[ -n ${old[-1]} && -n ${new[-1]} ]] || { echo "benches/loop.sh measured nothing" >&2; exit 1; }
    echo "round $round: ${old[-1]} ms before, ${new[-1]} ms after"
done
a=$(printf '%s\n' "${old[@]}" | median) b=$(printf '%s\n' "${new[@]}" | median)
awk -v a="$a" -v b="$b" 'BEGIN { printf "median: %.2f ms before, %.2f ms after, %+.2f ms for an iteration\n", a, b, b - a }'
