#!/bin/sh
# Runs ralph's gates at the end of an agent's turn, and blocks the end while they fail. For Claude Code and Codex.
# Call it for UserPromptSubmit and for Stop. Its arguments go to ralph: the gate (all if left out), or --since REV.
#
# A host takes exit code 2 as a block. An old ralph, or none at all, must not block, so the exit code is always 0.
command -v ralph > /dev/null 2>&1 || exit 0
answer=$(ralph gate "$@" --stop-hook 2> /dev/null) || exit 0
[ -z "$answer" ] || printf '%s\n' "$answer"
exit 0
