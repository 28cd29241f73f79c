#!/bin/sh
# A loop that is not ralph's: an agent of your own, then ralph's gate, until the gate passes.
#   sh loop.sh 2. AGENT [ARGUMENT…]      in the workspace; the agent ticks its own box, `2.`
# Ends with 0 when the gate passed, 1 after five rounds, else with the gate's code (3: no verdict).
set -eu
task=$1
shift
for round in 1 2 3 4 5; do
    # From here on, changes belong to the task; the agent cannot accept, reopen or place anything by ralph.
    ralph snapshot "$task" --exec -- "$@"
    code=0
    ralph gate "${task}PITEST" || code=$?
    echo "round $round: the gate's exit code is $code"
    case $code in
    0) exit 0 ;;
    1) ;;                           # the reasons stand in progress.txt, the box is open again
    *) exit "$code" ;;
    esac
done
exit 1
