#!/usr/bin/env bash
# Wall time of four independent tasks: the loop alone, then `--lanes 4`. The scripted agent takes SECONDS_PER_STAGE (20) for
# each of the eight stages. Prints both times and their ratio, and fails above 0.45.
#
#   benches/lanes.sh                        with target/release/ralph
#   RALPH=target/debug/ralph benches/lanes.sh
set -euo pipefail
cd "$(dirname "$0")/.."
ralph=$(realpath "${RALPH:-target/release/ralph}")
stage=${SECONDS_PER_STAGE:-20}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export HOME=$folder/home XDG_CACHE_HOME=$folder/cache GIT_CONFIG_GLOBAL=/dev/null
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.org
mkdir -p "$HOME"

make_workspace() {   # folder
    mkdir -p "$1/.ralph" "$1/src/app"
    cat > "$1/.ralph/config.yaml" <<'YAML'
agents:
  default: {command: [sh, agent.sh]}
checks: {green: ["true"]}
YAML
    cat > "$1/agent.sh" <<SH
cat > /dev/null
sleep $stage
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.org
kind=main
[ "\$RALPH_STAGE" = TEST-FIRST ] && kind=test
mkdir -p src/app/src/\$kind
echo "\$RALPH_TASK" > src/app/src/\$kind/\${RALPH_TASK%%.*}.txt
git -C src/app add --all
git -C src/app commit --quiet --message "\$RALPH_TASK"
SH
    for id in 1 2 3 4; do
        printf -- '- [ ] %s.TEST-FIRST Tests\n- [ ] %s. [P] Task\n' "$id" "$id"
    done > "$1/tasks.md"
    git init --quiet --initial-branch main "$1/src/app"
    git -C "$1/src/app" commit --quiet --allow-empty --message start
}

run() {   # folder, arguments of `ralph run`: milliseconds
    local workspace=$1 begin end
    shift
    begin=$(date +%s%N)
    "$ralph" --root "$workspace" run "$@" > "$workspace.log" 2>&1 || { cat "$workspace.log" >&2; exit 1; }
    end=$(date +%s%N)
    if grep -q '\[ \]' "$workspace/tasks.md"; then
        echo "not all boxes are ticked" >&2
        exit 1
    fi
    echo $(((end - begin) / 1000000))
}

make_workspace "$folder/alone"
make_workspace "$folder/lanes"
alone=$(run "$folder/alone")
lanes=$(run "$folder/lanes" --lanes 4)
trees=$(for one in alone lanes; do git -C "$folder/$one/src/app" rev-parse 'HEAD^{tree}'; done | sort -u | wc -l)
[ "$trees" = 1 ] || { echo "the final trees differ" >&2; exit 1; }
echo "alone $alone ms, --lanes 4 $lanes ms, ratio $((lanes * 100 / alone)) %"
[ $((lanes * 100)) -le $((alone * 45)) ]
