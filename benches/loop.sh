#!/usr/bin/env bash
# The loop's own time for an iteration: `ralph run` against a plain shell loop that spawns git.
#
#   benches/loop.sh [--ralph PATH] [--packages N] [--iterations N] [--rounds N] [--long] [--shell-only]
#
# Both loops work through the same tasks.md of plain implementation tasks, over the same number of
# packages (10 git repositories), with the same agent: a script that makes one commit and writes down
# when it began and ended. Own time = wall time less the sum of the agent's. The shell loop does what
# a hand-written loop does: `git rev-parse HEAD` in each package before and after, `git diff
# --name-only`, grep for the next open box, sed for the tick, one line of progress.
#
# The two take turns, so that both meet the same machine: shell, ralph, shell, ralph, shell. The ratio is
# that of the medians; shell figures that lie far apart say that the machine was not quiet. TMPDIR names
# the disk that is measured.
#
# --long adds a run of 1,000 iterations and compares its first and last hundred.
# With --long the same workspace is then resumed (`ralph run` on the finished journal) and asked for its
# `status`. Prints facts only; the exit code is 0 when both loops ticked every box, 1 when one did not.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
ralph=$root/target/release/ralph
packages=10 iterations=50 rounds=3 long=0 shell_only=0

usage() { sed -n '2,/^set -/s/^# \{0,1\}//p' "$0" >&2; exit 2; }

while (($#)); do
    case $1 in
    --ralph) ralph=$(realpath "${2:?}"); shift ;;
    --packages) packages=${2:?}; shift ;;
    --iterations) iterations=${2:?}; shift ;;
    --rounds) rounds=${2:?}; shift ;;
    --long) long=1 ;;
    --shell-only) shell_only=1 ;;
    *) usage ;;
    esac
    shift
done

if ((!shell_only)) && [[ ! -x $ralph ]]; then
    echo "No binary at $ralph: run \`cargo build --release\` first, or name one with --ralph." >&2
    exit 2
fi

scratch=$(mktemp -d "${TMPDIR:-/tmp}/ralph-bench.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=bench GIT_AUTHOR_EMAIL=bench@example.org
export GIT_COMMITTER_NAME=bench GIT_COMMITTER_EMAIL=bench@example.org

make_workspace() {   # folder, number of tasks
    local folder=$1 tasks=$2 n package
    rm -rf "$folder"
    mkdir -p "$folder/.ralph/state" "$folder/src"
    for ((n = 1; n <= packages; n++)); do
        package=$folder/src/$(printf 'p%02d' "$n")
        git init --quiet "$package"
        echo start >"$package/notes.txt"
        git -C "$package" add notes.txt
        git -C "$package" commit --quiet --message start
    done
    {
        printf '# Tasks\n\n'
        for ((n = 1; n <= tasks; n++)); do echo "- [ ] $n. Write line $n"; done
    } >"$folder/tasks.md"
    cat >"$folder/.ralph/config.yaml" <<'YAML'
packages: ["src/*"]
agents:
  default: {command: ["sh", "agent.sh"]}
YAML
    # The package is chosen by counting what the script itself wrote: both loops give it no argument.
    cat >"$folder/agent.sh" <<SH
begin=\$(date +%s%N)
cat >/dev/null
count=\$(wc -l <agent.log)
package=src/p\$(printf %02d \$((count % $packages + 1)))
echo "line \$count" >>"\$package/notes.txt"
git -C "\$package" commit --quiet --all --message "line \$count"
echo "\$begin \$(date +%s%N)" >>agent.log
SH
    : >"$folder/agent.log"
}

heads() {   # of each package, `name:head`
    local package
    for package in src/*/; do
        echo "$(basename "$package"):$(git -C "$package" rev-parse HEAD)"
    done
}

shell_loop() {   # in the workspace
    local n=0 line text id name head
    while line=$(grep -n -m 1 '^- \[ \] ' tasks.md); do
        n=$((n + 1))
        text=${line#*] }
        id=${text%% *}
        line=${line%%:*}
        heads >".ralph/state/iter-$n-before.txt"
        echo "Do task $text" | sh agent.sh
        while IFS=: read -r name head; do
            if [[ $(git -C "src/$name" rev-parse HEAD) != "$head" ]]; then
                git -C "src/$name" diff --name-only "$head..HEAD" | sed "s|^|$name/|"
            fi
        done <".ralph/state/iter-$n-before.txt" >.ralph/state/latest-task-diff.txt
        [[ -s .ralph/state/latest-task-diff.txt ]] || return 1
        sed -i "${line}s/\[ \]/[x]/" tasks.md
        echo "$(date -u +%FT%TZ) iteration $n · $id done" >>progress.txt
    done
}

ralph_loop() { exec "$ralph" run >run.log 2>&1; }   # in the workspace, instead of the subshell

# `%.0f`: some awks cut `%d` to 31 bits.
agent_ns() { awk '{ sum += $2 - $1 } END { printf "%.0f", sum }' "$1/agent.log"; }

# Runs a loop in a workspace; prints own ms for an iteration. Sets `own_us`, and `peak_kib` for ralph.
measure() {   # title, folder, function
    local title=$1 folder=$2 loop=$3 begin end child status=0 done_boxes
    peak_kib=0
    begin=$(date +%s%N)
    (cd "$folder" && "$loop") &
    child=$!
    if [[ $loop == ralph_loop ]]; then
        # VmHWM only grows, so the last reading before the end is the peak (to within 50 ms).
        while kill -0 "$child" 2>/dev/null; do
            peak_of_ralph "$child"
            if ((peak_now > peak_kib)); then peak_kib=$peak_now; fi
            sleep 0.05
        done
    fi
    wait "$child" || status=$?
    end=$(date +%s%N)
    done_boxes=$(grep -c '^- \[x\] ' "$folder/tasks.md" || true)
    count=$(wc -l <"$folder/agent.log")
    if ((status != 0 || done_boxes == 0)) || grep -q '^- \[ \] ' "$folder/tasks.md"; then
        echo "$title: did not finish (exit $status, $done_boxes boxes ticked, $count agents started)" >&2
        if [[ -f $folder/run.log ]]; then tail -n 20 "$folder/run.log" >&2; fi
        exit 1
    fi
    own_us=$(((end - begin - $(agent_ns "$folder")) / count / 1000))
    printf '%-12s %5d iterations   own %8s ms/iteration   agent %8s ms/iteration   wall %s s\n' \
        "$title" "$count" "$(ms "$own_us")" "$(ms $(($(agent_ns "$folder") / count / 1000)))" \
        "$(awk -v ns=$((end - begin)) 'BEGIN { printf "%.2f", ns / 1e9 }')"
}

ms() { awk -v us="$1" 'BEGIN { printf "%.2f", us / 1000 }'; }

# Peak resident set (KiB) of a process that is ralph, else 0; no process is started to ask.
peak_of_ralph() {   # pid; sets `peak_now`
    local name key value rest
    peak_now=0
    { read -r name <"/proc/$1/comm"; } 2>/dev/null || return 0
    [[ $name == ralph* ]] || return 0
    while read -r key value rest; do
        if [[ $key == VmHWM: ]]; then peak_now=$value; fi
    done 2>/dev/null <"/proc/$1/status" || return 0
}

# A verb in a finished workspace: wall time, and peak memory where GNU time is installed.
verb() {   # verb, folder
    local begin end peak='' time=()
    if [[ -x /usr/bin/time ]]; then time=(/usr/bin/time -f %M -o "$scratch/peak"); fi
    begin=$(date +%s%N)
    (cd "$2" && "${time[@]}" "$ralph" "$1" >/dev/null 2>&1) || true
    end=$(date +%s%N)
    if ((${#time[@]})); then peak="   peak memory $(tail -n 1 "$scratch/peak") KiB"; fi
    printf '%-12s %s ms%s\n' "ralph $1" "$(ms $(((end - begin) / 1000)))" "$peak"
}

# Own time of iterations a to b: from one agent's end to the next one's begin, out of the agent's log.
gap_us() {   # folder, from, to (1-based agents)
    awk -v from="$2" -v to="$3" '
        NR > from && NR <= to { sum += $1 - end; n++ }
        { end = $2 }
        END { printf "%.0f", n ? sum / n / 1000 : 0 }' "$1/agent.log"
}

echo "packages: $packages   $(git --version)   $(nproc) processors, load $(cut -d' ' -f1 /proc/loadavg)"

median() { printf '%s\n' "$@" | sort -n | sed -n "$((($# + 1) / 2))p"; }

shell_times=() ralph_times=() ralph_kib=0
for ((round = 0; round <= rounds; round++)); do
    make_workspace "$scratch/shell" "$iterations"
    measure 'shell loop' "$scratch/shell" shell_loop
    shell_times+=("$own_us")
    if ((shell_only || round == rounds)); then continue; fi
    make_workspace "$scratch/ralph" "$iterations"
    measure 'ralph run' "$scratch/ralph" ralph_loop
    ralph_times+=("$own_us")
    if ((peak_kib > ralph_kib)); then ralph_kib=$peak_kib; fi
done
if ((!shell_only)); then
    shell_us=$(median "${shell_times[@]}") ralph_us=$(median "${ralph_times[@]}")
    awk -v r="$ralph_us" -v s="$shell_us" 'BEGIN {
        printf "ratio        ralph %.2f ms / shell %.2f ms = %.2f (medians)\n", r / 1000, s / 1000, r / s }'
    echo "peak memory  ralph $ralph_kib KiB (VmHWM)"
fi

if ((long)); then
    if ((shell_only)); then loop=shell_loop title='shell long'; else loop=ralph_loop title='ralph long'; fi
    make_workspace "$scratch/long" 1000
    measure "$title" "$scratch/long" "$loop"
    first=$(gap_us "$scratch/long" 1 100)
    last=$(gap_us "$scratch/long" 900 1000)
    echo "flatness     first hundred $(ms "$first") ms, last hundred $(ms "$last") ms, $(
        awk -v a="$last" -v b="$first" 'BEGIN { printf "last / first = %.2f", b ? a / b : 0 }')"
    if [[ $loop == ralph_loop ]]; then
        echo "peak memory  ralph $peak_kib KiB (VmHWM), journal $(wc -c <"$scratch/long/.ralph/state/journal.jsonl") bytes"
        verb run "$scratch/long"
        verb status "$scratch/long"
        verb next "$scratch/long"
    fi
fi
