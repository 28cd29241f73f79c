#!/usr/bin/env bash
# What ralph decides of real CLIs of agents and what it says, for each scenario of a scripted model: a table on standard
# output. The CLIs come from the npm registry, in the versions that tests/real/mod.rs names; no key and no other network.
#
#   benches/agents.sh                    claude, codex, gemini, opencode
#   benches/agents.sh gemini,opencode    these; copilot, pi and qwen are known too
#   RALPH_SCENARIOS="401;cut stream" benches/agents.sh pi      these scenarios alone
set -euo pipefail
cd "$(dirname "$0")/.."
export RALPH_CLIS=${1:-claude,codex,gemini,opencode}
binary=$(cargo test --locked --no-run --test e2e --message-format short 2>&1 | tee /dev/stderr | sed -n 's/.*Executable .*(\(.*\))/\1/p')
CI=true "$binary" real::the_table_of_all_that_are_asked_for | grep '^|'
