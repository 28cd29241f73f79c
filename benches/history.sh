#!/usr/bin/env bash
# Twenty tasks on the history of one package: the literal mutation gate against `ralph gate`.
#
#   benches/history.sh [options]
#
#   --tasks N        so many tasks, evenly spread over the history (default 20)
#   --quick          two tasks
#   --project cli|csv   whose history: commons-cli (default) or commons-csv
#   --threads N      threads of the literal goal (default 1, the goal's own default; ralph uses all)
#   --ralph PATH     the binary (default target/release/ralph)
#   --into DIR       where projects and results are kept (default target/bench)
#   --fresh          forget earlier results of this script
#   --table          run nothing, print the table of the results in DIR
#   --help
#
# The history is that of the releases on Maven Central (POM, `sources` and `test-sources` artifacts), one commit
# each. A task is one class that has a test of its own and that differs from one release to the next: both gates
# judge that class in the newer release's tree, ralph with a list of the class and its changed test. They walk
# the history in order, so that each pays for compiling what a release changed; both are timed whole.
#
# The literal goal gets the JUnit 5 plugin in the POM, and `excludedTestClasses` for tests that are red on
# untouched code, as in gate.sh. Downloads and the look for red tests are not timed; one run of ralph's comes
# first and is not counted.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
ralph=$root/target/release/ralph
into=$root/target/bench
project=cli tasks=20 threads=1 fresh=0 only_table=0

usage() { sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"; }

# shellcheck source=benches/maven-central.bash
source "$root/benches/maven-central.bash"

while (($#)); do
    case $1 in
    --tasks) tasks=${2:?}; shift ;;
    --quick) tasks=2 ;;
    --project) project=${2:?}; shift ;;
    *) shared_option "$@"; shift $((taken - 1)) ;;
    esac
    shift
done

case $project in
cli) artifact=commons-cli:commons-cli releases=(1.5.0 1.6.0 1.7.0 1.8.0 1.9.0 1.10.0) ;;
csv) artifact=org.apache.commons:commons-csv releases=(1.9.0 1.10.0 1.11.0 1.12.0 1.13.0 1.14.0 1.14.1) ;;
*) usage >&2; exit 2 ;;
esac

needs mvn java git unzip python3
results=$into/history.tsv
home=$into/history-$project
name=commons-$project
package=$home/workspace/src/$name
mkdir -p "$into/logs"
if ((fresh)); then rm -f "$results"; fi
touch "$results"
binary=$(sha256sum "$ralph" | cut -c1-12)

make_history() {
    if [[ -f $home/made ]]; then return; fi
    rm -rf "$home"
    mkdir -p "$package" "$home/literal"
    local release
    for release in "${releases[@]}"; do
        note "making $name $release"
        fill_tree "$package" "$artifact:$release"
        commit_tree "$package" "$release"
        git -C "$package" tag "$release"
    done
    git clone --quiet "$package" "$home/literal"
    write_config "$home/workspace" "scope: class"
    touch "$home/made"
}

# `older newer path`, a line for each class that differs and has a test of its own in the newer release.
all_tasks() {
    local at older newer path
    for ((at = 1; at < ${#releases[@]}; at++)); do
        older=${releases[at - 1]} newer=${releases[at]}
        git -C "$package" checkout --quiet --force "$newer"
        comm -12 <(classes_with_tests "$package" | LC_ALL=C sort) \
            <(git -C "$package" diff --name-only --diff-filter=AM "$older" "$newer" | LC_ALL=C sort) |
            while IFS= read -r path; do echo "$older $newer $path"; done
    done
}

spread() {   # from standard input
    awk -v n="$tasks" '{ all[NR] = $0 } END { if (n > NR) n = NR
        for (i = 0; i < n; i++) print all[int(i * NR / n) + 1] }'
}

# Each side's tree at a release; the literal goal's with PIT in its POM.
checkout() {   # release, a class of it
    git -C "$package" checkout --quiet --force "$1"
    git -C "$home/literal" checkout --quiet --force "$1"
    add_pit "$home/literal"
    if [[ ! -f $home/red-$1 ]]; then
        note "resolving $1 and looking for tests that are red on untouched code"
        # In a tree of its own, so that it compiles nothing for the run that is timed.
        rm -rf "$home/probe"
        cp -a "$home/literal" "$home/probe"
        (cd "$home/probe" && mvn_quiet "${skips[@]}" clean test-compile) >"$into/logs/$name-$1.log" 2>&1 ||
            fail "$name $1 does not compile, see $into/logs/$name-$1.log"
        find_red "$home/probe" "$2" "$home/red-$1"
        rm -rf "$home/probe"
    fi
}

row() {   # task, side, binary, "verdict killed total", ns, note
    local verdict killed total
    read -r verdict killed total <<<"$4"
    printf 'history\t%s\t%s\t%s\t1\t%s\t%s\t%s\t%s\t%s\t%s\n' "$project" "$1" "$2" "$3" \
        "$verdict" "$killed" "$total" "$(seconds "$5")" "${6//[$'\t\n']/ }" >>"$results"
    note "  $2 $(seconds "$5") s: $4"
}

has_row() {   # task, side, binary
    grep -qP "^history\t\Q$project\E\t\Q$1\E\t\Q$2\E\t1\t\Q$3\E\t" "$results"
}

judge() {   # older, newer, path, task
    local older=$1 newer=$2 path=$3 task=$4 class log counts remark json list=$home/list.txt answer
    class=$(class_of "$path")
    if ! has_row "$task" literal -; then
        log=$into/logs/history-$newer-$class.log
        literal "$home/literal" "$class" "$home/report.xml" "$log" "$(cat "$home/red-$newer")"
        remark="exit $run_code"
        if [[ -f $home/report.xml ]]; then
            counts=$(python3 "$bench_py" count-literal "$home/report.xml" "$class")
        elif grep -q 'No mutations found' "$log"; then
            counts='NONE 0 0' remark="$remark, no mutations found"
        else
            counts='ERROR 0 0' remark="$remark, see $log"
        fi
        row "$task" literal - "$counts" "$run_ns" "$remark"
    fi
    if ! has_row "$task" ralph "$binary"; then
        json=$into/logs/history-$newer-$class.json
        { echo "$path"
            git -C "$package" diff --name-only --diff-filter=AM "$older" "$newer" -- src/test/java |
                grep -E "/(Test)?$(basename "$path" .java)(Test|Tests|TestCase)?\.java$" || true
        } | sed "s|^|$name/|" >"$list"
        ralph_gate "$home/workspace" "$json" --diff "$list"
        if answer=$(python3 "$bench_py" count-ralph "$json" "$class" 2>/dev/null); then
            row "$task" ralph "$binary" "${answer% *}" "$run_ns" "exit $run_code, ${answer##* }"
        else
            row "$task" ralph "$binary" 'ERROR 0 0' "$run_ns" "exit $run_code, see $json.err"
        fi
    fi
}

# A function, so that bash has read the whole script before a long run begins: it may be edited meanwhile.
main() {
    begin_at=$(machine)
    make_history
    mapfile -t chosen < <(all_tasks | spread)
    ((${#chosen[@]})) && [[ -n ${chosen[0]} ]] || fail 'the history holds no task'
    wanted='' at='' number=0 warm=0
    for task in "${chosen[@]}"; do
        read -r older newer path <<<"$task"
        class=$(class_of "$path")
        id="$older→$newer/$class"
        wanted+=",$id"
        number=$((number + 1))
        if ((only_table)) || { has_row "$id" literal - && has_row "$id" ralph "$binary"; }; then continue; fi
        if ((!warm)); then
            # At the oldest release: what is kept between gates is there, and nothing of this task is.
            git -C "$package" checkout --quiet --force "$older"
            echo "$name/$path" >"$home/list.txt"
            note "warming up ralph at $older (not counted)"
            ralph_gate "$home/workspace" "$into/logs/history-warm.json" --diff "$home/list.txt"
            warm=1
        fi
        if [[ $at != "$newer" ]]; then checkout "$newer" "$class"; at=$newer; fi
        note "[$number/${#chosen[@]}] $id"
        judge "$older" "$newer" "$path" "$id"
    done

    echo
    echo "$begin_at"
    echo "$name, releases ${releases[*]}; every time is of a whole command"
    for release in "${releases[@]}"; do
        if [[ -s $home/red-$release ]]; then
            red=$(cat "$home/red-$release")
            if [[ -n $red ]]; then echo "$release, red on untouched code and excluded from the literal goal: $red"; fi
        fi
    done
    echo
    python3 "$bench_py" history "$results" "$binary" "${wanted#,}"
}

main; exit
