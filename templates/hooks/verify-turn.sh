#!/bin/sh
# Prints which file edits of a turn failed and were never made good, judged by git. For agents that a person talks to.
#
#   claude: in .claude/settings.json (see claude-settings.json beside this file)
#     UserPromptSubmit:  sh verify-turn.sh begin      Stop:  sh verify-turn.sh claude
#   codex: in ~/.codex/config.toml
#     notify = ["sh", "/path/to/verify-turn.sh", "codex"]
#
# What is kept between begin and end of a turn lies in .git/ralph-turn. Nothing of the agent's is changed.
set -u

# The text of a field of the hook's JSON on standard input or in $2.
field() { printf '%s' "$event" | sed -n 's/.*"'"$1"'" *: *"\([^"]*\)".*/\1/p' | head -n 1; }

begin() {
    snapshot=$(git stash create 2>/dev/null)
    {
        printf '%s\n' "${snapshot:-$(git rev-parse HEAD)}"
        { wc -c < "${transcript:-/dev/null}"; } 2>/dev/null || echo 0
    } > "$kept"
}

case "${1:-}" in
begin | claude) event=$(cat) ;;
codex) event=${2:-} ;;
*) echo "usage: verify-turn.sh begin | claude | codex JSON" >&2; exit 2 ;;
esac
cwd=$(field cwd)
cd "${cwd:-.}" 2>/dev/null || exit 0
kept=$(git rev-parse --absolute-git-dir 2>/dev/null)/ralph-turn || exit 0
transcript=$(field transcript_path)
if [ "$1" = codex ]; then
    thread=$(field thread-id)
    transcript=$(ls -t "${CODEX_HOME:-$HOME/.codex}"/sessions/*/*/*/rollout-*"${thread:-none}".jsonl 2>/dev/null | head -n 1)
fi
[ "$1" = begin ] && { begin; exit 0; }
{ read -r before && read -r from; } < "$kept" 2>/dev/null || { before=HEAD; from=0; }
turn() { tail -c +$((from + 1)) "${transcript:-/dev/null}" 2>/dev/null; }
# Claude calls this a little before it has written the turn's last message.
tries=0
until [ "$1" = codex ] || turn | grep -q '"stop_reason":"end_turn"' || [ "$tries" -ge 30 ]; do
    tries=$((tries + 1))
    sleep 0.1
done
footer=$(turn | ralph verify --format "$1" --before "$before" 2>&1)
found=$?
[ "$1" = codex ] && begin
# 1: edits are unresolved. Anything else but 0: they could not be judged, and that is said too.
[ "$found" -ne 0 ] || exit 0
case "$1" in
claude)
    # Shown to the person; the agent's own history stays as it is.
    text=$(printf '%s' "$footer" | sed 's/\\/\\\\/g; s/"/\\"/g' | awk '{ printf "%s%s", (NR > 1 ? "\\n" : ""), $0 }')
    printf '{"systemMessage":"%s"}\n' "$text"
    ;;
codex) printf '%s\n' "$footer" > /dev/tty 2>/dev/null || printf '%s\n' "$footer" >&2 ;;
esac
exit 0
