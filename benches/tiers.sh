#!/usr/bin/env bash
# Own tests first, then survivors only, against one run with all tests: the same mutants killed?
#
#   benches/tiers.sh [options]
#
#   --project csv|text|cli|codec|collections|validator   which project (default: csv and cli)
#   --classes A,B    only these classes, by simple or full name
#   --sample N       N classes of each project, evenly spread
#   --changes [A,B]  one class in each project, after changes between the map and the gate (see below); only these changes
#   --together       one gate with `tests: all` for all classes, or for all changes: for a suite of minutes
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
# With --together a map is made first for classes too, each change has a copy of that package, and one gate with
# `tests: all` judges all classes, or the commit of all changes. Its seconds stand with each. With --classes as well these
# are judged by the same map and in the same gate.
# The exit code is 0 if every class was judged twice, otherwise 1.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
ralph=$root/target/release/ralph
into=$root/target/bench
projects=(csv cli)
classes='' sample=0 threads=1 fresh=0 only_table=0 with_changes=0 together=0

usage() { sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"; }

# shellcheck source=benches/maven-central.bash
source "$root/benches/maven-central.bash"
# shellcheck source=benches/changes.bash
source "$root/benches/changes.bash"

while (($#)); do
    case $1 in
    --project) case ${2:?} in csv | text | cli | codec | collections | validator) projects=("$2") ;; *) usage >&2; exit 2 ;; esac; shift ;;
    --classes) classes=${2:?}; shift ;;
    --sample) sample=${2:?}; shift ;;
    --changes)
        with_changes=1
        if [[ ${2:-} == [a-z]* ]]; then IFS=, read -r -a changes <<<"$2"; shift; fi
        ;;
    --together) together=1 ;;
    *) shared_option "$@"; shift $((taken - 1)) ;;
    esac
    shift
done

needs mvn java git unzip python3
binary=$(sha256sum "$ralph" | cut -c1-12)
kept=$into/tiers-$binary
if ((fresh)); then rm -rf "$kept"; fi
mkdir -p "$into/logs" "$kept"

path_of() { echo "commons-$1/src/main/java/${2//./\/}.java"; }   # project, class

judge() {   # project, name of the answer, class, workspace, tests
    local list=$into/$1/list.txt json=$into/logs/tiers-$1-$2-$5.json answer=$kept/$1-$2-$5.json
    if [[ -f $answer ]]; then return; fi
    write_config "$4" "tests: $5" 'threshold: 100'
    path_of "$1" "$3" >"$list"
    ralph_gate "$4" "$json" --diff "$list"
    note "  $5: $(seconds "$run_ns") s"
    keep_answer "$3" "$5"
}

keep_answer() {   # class, tests; `json` has it, `answer` gets it
    if python3 "$bench_py" mutants "$json" "$1" "$(seconds "$run_ns")" >"$answer.new"; then
        mv "$answer.new" "$answer"
    else
        note "  $2: no answer, exit $run_code, see $json.err"
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

# One gate with `tests: all`, whose answer is that of each class.
judge_together() {   # project, workspace, `name class` each
    local project=$1 workspace=$2 json=$into/logs/tiers-$1-together.json answer pair
    shift 2
    note "[$project] $# classes together"
    write_config "$workspace" 'tests: all' 'threshold: 100'
    for pair in "$@"; do path_of "$project" "${pair#* }"; done >"$into/$project/list.txt"
    ralph_gate "$workspace" "$json" --diff "$into/$project/list.txt"
    note "  all: $(seconds "$run_ns") s"
    for pair in "$@"; do
        answer=$kept/$project-${pair% *}-all.json
        keep_answer "${pair#* }" all
    done
}

make_map() {   # project, workspace, class
    write_config "$2" 'threshold: 100'
    path_of "$1" "$3" >"$into/$1/list.txt"
    ralph_gate "$2" "$into/logs/map-$1.json" --map --diff "$into/$1/list.txt"
    ((run_code <= 1)) || fail "no map of $1, see $into/logs/map-$1.json.err"
    note "[$1] a map: $(seconds "$run_ns") s"
}

each_class() {   # project
    local path class paths pairs=() workspace=$into/$1/workspace
    mapfile -t paths < <(chosen "$1")
    for path in "${paths[@]}"; do pairs+=("$(class_of "$path") $(class_of "$path")"); done
    if ((together && !only_table)); then
        make_map "$1" "$workspace" "${pairs[0]#* }"
        judge_together "$1" "$workspace" "${pairs[@]}"
    fi
    for path in "${paths[@]}"; do
        class=$(class_of "$path")
        judge_twice "$1" "$class" "$class" "$workspace"
    done
}

# The package of a change: with --together each has its own.
package_of() {   # name of the change
    if ((together)); then echo "bystander_${1//-/_}"; else echo bystander; fi
}

each_change() {   # project
    local name package class unchanged=() pairs=() maps=$into/cache/ralph/facts/coverage-maps
    local workspace=$into/$1/changed side=$into/$1/changed/src/commons-$1
    if ((together)) && [[ -n $classes ]]; then
        mapfile -t unchanged < <(chosen "$1" | while read -r path; do class_of "$path"; done)
    fi
    if ! ((only_table)); then
        rm -rf "$workspace" "$into/$1/maps"
        cp -a "$into/$1/workspace" "$workspace"
        for name in unchanged "${changes[@]}"; do
            package=$(package_of "$name")
            add_bystanders
            pairs+=("$package.Judged@$name $package.Judged")
        done
        commit_tree "$side" 'with bystanders'
        make_map "$1" "$workspace" "$package.Judged"
        cp -a "$maps" "$into/$1/maps"
        if ((together)); then
            for class in "${unchanged[@]}"; do pairs+=("$class $class"); done
            for name in "${changes[@]}"; do package=$(package_of "$name"); change "$name"; done
            commit_tree "$side" 'all changes'
            judge_together "$1" "$workspace" "${pairs[@]}"
            git -C "$side" reset --quiet --hard HEAD~1
        fi
    fi
    if ! ((only_table)); then rm -rf "$maps" && cp -a "$into/$1/maps" "$maps"; fi
    for class in "${unchanged[@]}"; do judge_twice "$1" "$class" "$class" "$workspace"; done
    for name in unchanged "${changes[@]}"; do
        package=$(package_of "$name")
        if ! ((only_table)); then
            git -C "$side" reset --quiet --hard HEAD
            change "$name"
            git -C "$side" add --all && git -C "$side" commit --quiet --allow-empty --message "$name"
            rm -rf "$maps" && cp -a "$into/$1/maps" "$maps"
        fi
        judge_twice "$1" "$package.Judged@$name" "$package.Judged" "$workspace"
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
