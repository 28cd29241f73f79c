#!/usr/bin/env bash
# A FAIL, a rework of tests and the PASS after it, with the kills that the journal keeps and without them.
#
#   benches/rework.sh [options]
#
#   --project P          csv, text, cli, codec or collections (as in gate.sh; default text)
#   --classes A,B        the changed classes of the task (default StrBuilder,CompositeFormat)
#   --weak A             the one whose own tests lose every second assertion before the FAIL, and get them back by the
#                        rework (default CompositeFormat)
#   --repeat N           so many times in turn (default 3); medians are shown
#   --ralph PATH         the binary (default target/release/ralph)
#   --into DIR           where projects are made (default target/bench)
#   --help
#
# Both gates are those of a task's box (`ralph gate 1.PITEST`). Without the kills the one after the rework is asked alone
# (`ralph gate PITEST --since …`), which no journal records. Whole commands are timed; each round begins with a warm cache.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
ralph=$root/target/release/ralph
into=$root/target/bench
project=text classes=StrBuilder,CompositeFormat weak=CompositeFormat repeat=3 threads=1

usage() { sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"; }

# shellcheck source=benches/maven-central.bash
source "$root/benches/maven-central.bash"

while (($#)); do
    case $1 in
    --project) project=${2:?}; shift ;;
    --classes) classes=${2:?}; shift ;;
    --weak) weak=${2:?}; shift ;;
    --repeat) repeat=${2:?}; shift ;;
    *) shared_option "$@"; shift $((taken - 1)) ;;
    esac
    shift
done

needs mvn java git unzip python3
mkdir -p "$into/logs"
make_project "$project"
workspace=$into/$project/workspace
package=$workspace/src/commons-$project
write_config "$workspace" 'jobs: 0'
git -C "$package" reset --quiet --hard "$(git -C "$package" rev-list --max-parents=0 HEAD)"
base=$(git -C "$package" rev-parse HEAD)

timed() {   # log, arguments of ralph; `run_ns`, `run_code`
    local log=$1 begin
    shift
    run_code=0
    begin=$(date +%s%N)
    XDG_CACHE_HOME=$into/cache "$ralph" --root "$workspace" "$@" >"$log" 2>&1 </dev/null || run_code=$?
    run_ns=$(($(date +%s%N) - begin))
}

# One task: its classes changed, its tests weak; FAIL; the tests put right; PASS, `with` or `without` kills of the journal.
round() {   # with|without; prints the seconds of the FAIL and of the PASS
    local path test log=$into/logs/rework-$1 fail_ns second=(gate 1.PITEST --explain)
    rm -rf "$workspace/.ralph/state" "$workspace/progress.txt"
    printf -- '- [ ] 1. Change it\n- [ ] 1.PITEST Do the tests kill?\n' >"$workspace/tasks.md"
    git -C "$package" reset --quiet --hard "$base"
    timed "$log-snapshot.log" snapshot 1.
    while IFS= read -r path; do echo '// changed' >>"$package/$path"; done < <(chosen "$project")
    commit_tree "$package" 'the work'
    for test in $(cd "$package" && tests_of "src/main/java/$(cd "$package/src/main/java" && find . -name "$weak.java")"); do
        python3 "$bench_py" weaken "$package/$test"
    done
    commit_tree "$package" 'weaker tests'
    timed "$log-fail.log" gate 1.PITEST --explain
    ((run_code == 1)) || fail "the first gate ended with $run_code, see $log-fail.log"
    fail_ns=$run_ns
    git -C "$package" revert --no-edit HEAD >/dev/null
    if [[ $1 == without ]]; then second=(gate PITEST --since "$base" --explain); fi
    timed "$log-pass.log" "${second[@]}"
    ((run_code == 0)) || fail "the second gate ended with $run_code, see $log-pass.log"
    echo "$(seconds "$fail_ns") $(seconds "$run_ns")"
}

main() {
    machine
    round with >/dev/null
    local side turn
    for ((turn = 1; turn <= repeat; turn++)); do
        for side in with without; do echo "$side $(round "$side")"; done
    done | python3 -c '
import statistics, sys
rows = [line.split() for line in sys.stdin]
for side in ("with", "without"):
    own = [row for row in rows if row[0] == side]
    fail, passed = (statistics.median(float(row[at]) for row in own) for at in (1, 2))
    print(f"{side:8} the kills of the journal: FAIL {fail:.1f} s, PASS {passed:.1f} s, of {len(own)}")
'
    grep -h 'killed.*taken over' "$into/logs/rework-with-pass.log"
}

main; exit
