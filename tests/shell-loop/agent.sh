#!/bin/sh
# The example's agent (agent.sh in the workspace) as a plain loop would use one: it writes tests and code,
# mends what progress.txt names, and ticks its own box. Writes down what it found in tasks.md.
set -eu
export RALPH_WORKSPACE="$PWD" RALPH_TASK RALPH_ROLE
grep -F ' 2.' tasks.md >> boxes.log
echo --- >> boxes.log
if [ ! -d src/orders/src ]; then
    RALPH_TASK=2.TEST-FIRST RALPH_ROLE=test-writer
    sh agent.sh </dev/null
fi
RALPH_TASK=2. RALPH_ROLE=worker
sh agent.sh </dev/null
sed 's/^- \[ \] 2\. /- [x] 2. /' tasks.md > tasks.md.new
mv tasks.md.new tasks.md
