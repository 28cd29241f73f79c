#!/usr/bin/env bash
# Own tests first, then survivors only, against one run with all tests: the same mutants killed?
#
#   benches/tiers.sh [options]
#
#   --project csv|text|cli|codec|collections   which project (default: csv and cli)
#   --classes A,B    only these classes, by simple or full name
#   --sample N       N classes of each project, evenly spread
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
# The exit code is 0 if every class was judged twice, otherwise 1.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
ralph=$root/target/release/ralph
into=$root/target/bench
projects=(csv cli)
classes='' sample=0 threads=1 fresh=0 only_table=0

usage() { sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"; }

# shellcheck source=benches/maven-central.bash
source "$root/benches/maven-central.bash"

while (($#)); do
    case $1 in
    --project) case ${2:?} in csv | text | cli | codec | collections) projects=("$2") ;; *) usage >&2; exit 2 ;; esac; shift ;;
    --classes) classes=${2:?}; shift ;;
    --sample) sample=${2:?}; shift ;;
    *) shared_option "$@"; shift $((taken - 1)) ;;
    esac
    shift
done

needs mvn java git unzip python3
binary=$(sha256sum "$ralph" | cut -c1-12)
kept=$into/tiers-$binary
if ((fresh)); then rm -rf "$kept"; fi
mkdir -p "$into/logs" "$kept"

judge() {   # project, class, path, tests
    local home=$into/$1 list=$into/$1/list.txt json=$into/logs/tiers-$1-$2-$4.json answer=$kept/$1-$2-$4.json
    if [[ -f $answer ]]; then return; fi
    write_config "$home/workspace" "tests: $4" 'threshold: 100'
    echo "commons-$1/$3" >"$list"
    ralph_gate "$home/workspace" "$json" --diff "$list"
    if python3 "$bench_py" mutants "$json" "$2" "$(seconds "$run_ns")" >"$answer.new"; then
        mv "$answer.new" "$answer"
        note "  $4: $(seconds "$run_ns") s"
    else
        note "  $4: no answer, exit $run_code, see $json.err"
        missing=1
    fi
}

main() {
    local begin_at project path class number missing=0 wanted=()
    begin_at=$(machine)
    for project in "${projects[@]}"; do
        make_project "$project"
        mapfile -t paths < <(chosen "$project")
        number=0
        for path in "${paths[@]}"; do
            number=$((number + 1))
            class=$(class_of "$path")
            wanted+=("$project-$class")
            if ((only_table)); then continue; fi
            note "[$project $number/${#paths[@]}] $class"
            judge "$project" "$class" "$path" own-first
            judge "$project" "$class" "$path" all
        done
    done

    echo
    echo "$begin_at"
    echo "threshold 100 %: what is not killed goes through all tiers; one run of each"
    echo
    python3 "$bench_py" tiers "$kept" "${wanted[@]}"
    return "$missing"
}

main; exit
