#!/bin/sh
# Prints which file edits of a turn failed and were not repaired. For agents that a person talks to.
#
#   claude: in .claude/settings.json (see claude-settings.json beside this file)
#     UserPromptSubmit:  sh verify-turn.sh begin      Stop:  sh verify-turn.sh claude
#   codex: in ~/.codex/config.toml
#     notify = ["sh", "/path/to/verify-turn.sh", "codex"]
#
# The begin of a turn is kept in .git/ralph-turn (without git in the cache folder), with a commit of the files as they were
# that no reference names. Untracked files above 1 MiB, and more than 5,000 of them, are not in it. Nothing of the agent's
# is changed. RALPH_VERIFIER=off, `verifier: off` in .ralph/config.yaml or HERMES_FILE_MUTATION_VERIFIER=0 silence it.
set -u

# The text of a field of the hook's JSON on standard input or in $2.
field() { printf '%s' "$event" | sed -n 's/.*"'"$1"'" *: *"\([^"]*\)".*/\1/p' | head -n 1; }

# A commit of all files as they are now, the untracked ones too. The index of the person stays as it is.
snapshot() (
    [ -n "$gitdir" ] && cd "$(git rev-parse --show-toplevel)" || exit 1
    GIT_INDEX_FILE=$kept.index
    export GIT_INDEX_FILE
    cp "$gitdir/index" "$GIT_INDEX_FILE" 2>/dev/null || rm -f "$GIT_INDEX_FILE"
    git add -u . &&
        git ls-files -oz --exclude-standard | head -zn 5000 | sed -z 's|^|./|' |
        xargs -0 -r sh -c 'find "$@" -prune -type f -size -1025k -print0' sh |
            git update-index -z --add --stdin
    tree=$(git write-tree) || exit 1
    rm -f "$GIT_INDEX_FILE"
    GIT_AUTHOR_NAME=ralph GIT_AUTHOR_EMAIL=ralph@localhost GIT_COMMITTER_NAME=ralph \
        GIT_COMMITTER_EMAIL=ralph@localhost git commit-tree "$tree" -m 'ralph: the begin of a turn'
)

begin() {
    {
        printf '%s\n' "$(snapshot 2>/dev/null)"
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
if gitdir=$(git rev-parse --absolute-git-dir 2>/dev/null); then
    kept=$gitdir/ralph-turn
else
    gitdir=
    kept=${XDG_CACHE_HOME:-$HOME/.cache}/ralph/turn-$(pwd | cksum | tr -d ' ')
    mkdir -p "${kept%/*}" || exit 0
fi
transcript=$(field transcript_path)
if [ "$1" = codex ]; then
    thread=$(field thread-id)
    transcript=$(ls -t "${CODEX_HOME:-$HOME/.codex}"/sessions/*/*/*/rollout-*"${thread:-none}".jsonl 2>/dev/null | head -n 1)
fi
[ "$1" = begin ] && { begin; exit 0; }
{ read -r before && read -r from; } < "$kept" 2>/dev/null || { before=; from=0; }
turn() { tail -c +$((from + 1)) "${transcript:-/dev/null}" 2>/dev/null; }
# Claude calls this a little before it has written the turn's last message.
tries=0
until [ "$1" = codex ] || turn | grep -q '"stop_reason":"end_turn"' || [ "$tries" -ge 30 ]; do
    tries=$((tries + 1))
    sleep 0.1
done
footer=$(turn | ralph verify --for people --from "$1" --before "${before:-HEAD}" 2>&1)
[ "$1" = codex ] && begin
# Silence means that no edit failed. That edits could not be judged is printed too.
[ -n "$footer" ] || exit 0
case "$1" in
claude)
    # Shown to the person; the agent's own history stays as it is.
    text=$(printf '%s' "$footer" | sed 's/\\/\\\\/g; s/"/\\"/g' | awk '{ printf "%s%s", (NR > 1 ? "\\n" : ""), $0 }')
    printf '{"systemMessage":"%s"}\n' "$text"
    ;;
codex) printf '%s\n' "$footer" > /dev/tty 2>/dev/null || printf '%s\n' "$footer" >&2 ;;
esac
exit 0
