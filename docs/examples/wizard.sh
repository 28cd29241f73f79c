#!/usr/bin/env bash
# The questions of `ralph init` in a terminal of 90 columns, frame by frame, as wizard.md beside this
# file. Needs tmux and git, and a ralph to show: wizard.sh target/debug/ralph
set -euo pipefail
ralph=$(realpath "${1:?usage: wizard.sh RALPH}")
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
socket=$folder/tmux
tm() { env -u TMUX tmux -S "$socket" "$@"; }
# The shell in it may still write its last files.
trap 'tm kill-server 2>/dev/null || true; sleep 1; rm -rf "$folder"' EXIT

shop=$folder/home/shop
mkdir -p "$shop/.kiro/specs/orders" "$shop/src/orders" "$folder/bin"
ln -s "$ralph" "$folder/bin/ralph"
for agent in claude codex; do printf '#!/bin/sh\nexit 0\n' > "$folder/bin/$agent"; done
chmod +x "$folder"/bin/c*
export HOME=$folder/home GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org
export GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.org
git -C "$shop/src/orders" init -q
echo '<project/>' > "$shop/src/orders/pom.xml"
git -C "$shop/src/orders" add . && git -C "$shop/src/orders" commit -qm first
cat > "$shop/.kiro/specs/orders/tasks.md" <<'TASKS'
# Orders

## Prices
- [ ] 1. Sum the lines of an order
### Discounts
- [ ] 2. Ten percent from 100 on
## Shipping
- [ ] 3. Cost by weight

## Definition of Done
- [ ] the shop uses it
TASKS
mkdir "$shop/docs" && printf -- '- [ ] 1. Write the manual\n' > "$shop/docs/tasks.md"

out=$here/wizard.md
{
    echo '# The questions of `ralph init`'
    echo
    echo 'Recorded by [wizard.sh](wizard.sh) in tmux: what a terminal of 90 columns shows at each question. Arrow keys choose,'
    echo 'Enter answers; nothing is written before the last answer.'
} > "$out"

# frame TITLE WORDS: waits, at most ten seconds, until the words are shown.
frame() {
    for _ in $(seq 100); do
        pane=$(tm capture-pane -p -t wizard)
        if grep -qF -- "$2" <<< "$pane"; then
            { printf '\n## %s\n\n```text\n' "$1"; sed -e 's/ *$//' <<< "$pane" | sed -e '/./,$!d'; printf '```\n'; } >> "$out"
            return
        fi
        sleep 0.1
    done
    printf 'never shown: %s\n%s\n' "$2" "$pane" >&2
    exit 1
}
keys() { tm send-keys -t wizard "$@"; }
tm -f /dev/null new-session -d -s wizard -x 90 -y 34 -c "$shop" \
    "env -i HOME=$HOME TERM=screen LANG=C.UTF-8 PATH=$folder/bin:/usr/bin:/bin PS1='\$ ' bash --norc --noprofile"
keys 'ralph init' Enter
frame 'Which task file' 'Which task file?'
keys Down Enter
frame 'Which agent' 'Which agent?'
keys Down Enter
frame 'Where the gate goes' 'Where PITEST goes'
keys Down Down Down Enter
frame 'Which headings are groups' 'Which headings are groups'
keys Down Down Enter
frame 'Where the stages come from' 'The tasks have no stages'
keys Down Enter
frame 'Which sections are checklists' 'Checklists rather than tasks?'
keys Enter
frame 'The first change and its price, before anything is written' 'Write this?'
keys Enter
frame 'What it wrote' 'ralph check'
echo "wrote $out"
