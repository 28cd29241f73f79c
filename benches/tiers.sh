#!/usr/bin/env bash
# Own tests first, then survivors only, against one run with all tests: the same mutants killed?
#
#   benches/tiers.sh [options]
#
#   --project csv|text|cli|codec|collections   which project (default: csv and cli)
#   --classes A,B    only these classes, by simple or full name
#   --sample N       N classes of each project, evenly spread
#   --changes        one class in each project, after changes between the map and the gate (see below)
#   --ralph PATH     the binary (default target/release/ralph)
#   --into DIR       where projects and results are kept (default target/bench)
#   --fresh          forget earlier results of this script
#   --table          run nothing, print the table of the results in DIR
#   --help
#
# Every class that has a test of its own is judged twice by `ralph gate`, with a threshold of 100 %, so that each
# mutant that is not killed goes through every tier to the end: once with `tests: own-first`, once with
# `tests: all`. What is compared is the set of killed mutants, taken from PIT's own reports of each tier, and the
# verdict that either gives at 70 %. A mutant that only one of them killed is named, with how each ended.
#
# With --changes a package is added to the project (changes.bash) and a map is made. Then each of its changes alone is
# committed, and its class judged with that map and by all tests: after each of them other tests execute the class.
# The exit code is 0 if every class was judged twice, otherwise 1.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
ralph=$root/target/release/ralph
into=$root/target/bench
projects=(csv cli)
classes='' sample=0 threads=1 fresh=0 only_table=0 with_changes=0

usage() { sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"; }

# shellcheck source=benches/maven-central.bash
source "$root/benches/maven-central.bash"
# shellcheck source=benches/changes.bash
source "$root/benches/changes.bash"

while (($#)); do
    case $1 in
    --project) case ${2:?} in csv | text | cli | codec | collections) projects=("$2") ;; *) usage >&2; exit 2 ;; esac; shift ;;
    --classes) classes=${2:?}; shift ;;
    --sample) sample=${2:?}; shift ;;
    --changes) with_changes=1 ;;
    *) shared_option "$@"; shift $((taken - 1)) ;;
    esac
    shift
done

needs mvn java git unzip python3
binary=$(sha256sum "$ralph" | cut -c1-12)
kept=$into/tiers-$binary
if ((fresh)); then rm -rf "$kept"; fi
mkdir -p "$into/logs" "$kept"

judge() {   # project, name of the answer, class, workspace, tests
    local list=$into/$1/list.txt json=$into/logs/tiers-$1-$2-$5.json answer=$kept/$1-$2-$5.json
    if [[ -f $answer ]]; then return; fi
    write_config "$4" "tests: $5" 'threshold: 100'
    echo "commons-$1/src/main/java/${3//./\/}.java" >"$list"
    ralph_gate "$4" "$json" --diff "$list"
    if python3 "$bench_py" mutants "$json" "$3" "$(seconds "$run_ns")" >"$answer.new"; then
        mv "$answer.new" "$answer"
        note "  $5: $(seconds "$run_ns") s"
    else
        note "  $5: no answer, exit $run_code, see $json.err"
        missing=1
    fi
}

judge_twice() {   # project, name, class, workspace
    wanted+=("$1-$2")
    if ((only_table)); then return; fi
    note "[$1] $2"
    judge "$@" own-first
    judge "$@" all
}

each_class() {   # project
    local path class
    mapfile -t paths < <(chosen "$1")
    for path in "${paths[@]}"; do
        class=$(class_of "$path")
        judge_twice "$1" "$class" "$class" "$into/$1/workspace"
    done
}

each_change() {   # project
    local name class=$judged maps=$into/cache/ralph/facts/coverage-maps
    local workspace=$into/$1/changed side=$into/$1/changed/src/commons-$1
    if ! ((only_table)); then
        rm -rf "$workspace" "$into/$1/maps"
        cp -a "$into/$1/workspace" "$workspace"
        add_bystanders
        commit_tree "$side" 'with bystanders'
        write_config "$workspace" 'threshold: 100'
        echo "commons-$1/src/main/java/${class//./\/}.java" >"$into/$1/list.txt"
        ralph_gate "$workspace" "$into/logs/map-$1.json" --map --diff "$into/$1/list.txt"
        ((run_code <= 1)) || fail "no map of $1, see $into/logs/map-$1.json.err"
        cp -a "$maps" "$into/$1/maps"
    fi
    for name in unchanged "${changes[@]}"; do
        if ! ((only_table)); then
            git -C "$side" reset --quiet --hard HEAD
            change "$name"
            git -C "$side" add --all && git -C "$side" commit --quiet --allow-empty --message "$name"
            rm -rf "$maps" && cp -a "$into/$1/maps" "$maps"
        fi
        judge_twice "$1" "$class@$name" "$class" "$workspace"
        ((only_table)) || git -C "$side" reset --quiet --hard HEAD~1
    done
}

main() {
    local begin_at project paths missing=0 wanted=()
    begin_at=$(machine)
    for project in "${projects[@]}"; do
        make_project "$project"
        if ((with_changes)); then each_change "$project"; else each_class "$project"; fi
    done

    echo
    echo "$begin_at"
    echo "threshold 100 %: what is not killed goes through all tiers; one run of each"
    echo
    python3 "$bench_py" tiers "$kept" "${wanted[@]}"
    return "$missing"
}

main; exit
