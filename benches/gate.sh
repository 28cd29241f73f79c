#!/usr/bin/env bash
# The literal mutation gate against `ralph gate`, class by class, on projects of other people.
#
#   benches/gate.sh [options]
#
#   --project P              csv, text, cli, codec, collections, validator (of Apache Commons: csv 1.14.1, text 1.14.0,
#                            cli 1.10.0, codec 1.18.0, collections 4.5.0, validator 1.10.0), or all, the default: the
#                            first three
#   --classes A,B            only these classes, by simple or full name
#   --sample N               N classes of each project, evenly spread
#   --quick                  four classes: Token, ExtendedBufferedReader, CaseUtils, CosineSimilarity
#   --scope class|lines      class (default): ralph judges the whole class, as the literal goal does
#                            lines: five lines of the class are changed in a commit (a comment behind lines that
#                            hold mutants, in the middle of the class; fewer where there are fewer) and ralph
#                            judges with `scope: lines`; the literal goal runs on the whole class of the same
#                            commit, its mutants on those lines are counted
#   --fail                   every second assertion of the class's own tests is deleted in a commit (each of them, if the
#                            class passes all the same) and comes back in the next: both gates on either, and the table is
#                            of what the FAIL and both together take. The map of who touches what is there; classes that
#                            fail only without any assertion, or not at all, are named
#   --new-map                with --fail: the map is forgotten before each FAIL
#   --recompile auto|javac|maven   who compiles for ralph when only Java files changed (docs/gate.md; by default javac
#                            for lines, whatever other goals a build runs, and auto for class)
#   --repeat N               ralph's side N times (default 1): the median time counts, scores that vary are named
#   --threads N              threads of the literal goal (default 1, the goal's own default; ralph uses all)
#   --ralph PATH             the binary (default target/release/ralph)
#   --into DIR               where projects and results are kept (default target/bench)
#   --fresh                  forget earlier results; without it, what is in DIR/gate.tsv is not run again
#                            (ralph's rows count only for the binary that made them)
#   --table                  run nothing, print the table of the results in DIR
#   --help
#
# The projects are made from Maven Central's `sources` and `test-sources` artifacts and POMs, each twice: as a
# git repository in a workspace of ralph's, POM untouched; and as a plain folder for the literal goal
#
#   mvn test-compile org.pitest:pitest-maven:1.25.9:mutationCoverage -DtargetClasses=F,F$* -DoutputFormats=XML
#
# which gives no verdict at all without two things, so it gets them: the JUnit 5 plugin of PIT in the POM, and
# `excludedTestClasses` for tests that are red on untouched code (named below; ralph gets no such list).
# Flags that skip Apache's own checks (rat, enforcer …) are given to both sides.
#
# Both sides are timed whole, from the command line to its end, with compiled classes and caches warm: one run of
# each on one class comes first and is not counted, in which Maven builds and javac is seen to make the same classes; with
# lines also one of ralph's on a changed class. Verdicts are by one rule, see benches/gate.py.
# The exit code is 0 when everything ran, whatever the figures are; 1 when a project could not be made, or when a
# gate changed a file, the index or a commit of a project.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
ralph=$root/target/release/ralph
into=$root/target/bench
projects=(csv text cli)
classes='' sample=0 scope=class recompile='' repeat=1 threads=1 fresh=0 only_table=0 lines=5 new_map=0

usage() { sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"; }

# shellcheck source=benches/maven-central.bash
source "$root/benches/maven-central.bash"

while (($#)); do
    case $1 in
    --project) case ${2:?} in csv | text | cli | codec | collections | validator) projects=("$2") ;; all) ;; *) usage >&2; exit 2 ;; esac; shift ;;
    --classes) classes=${2:?}; shift ;;
    --sample) sample=${2:?}; shift ;;
    --quick) classes=Token,ExtendedBufferedReader,CaseUtils,CosineSimilarity ;;
    --scope) scope=${2:?}; shift; [[ $scope == class || $scope == lines ]] || { usage >&2; exit 2; } ;;
    --fail) scope=fail ;;
    --new-map) new_map=1 ;;
    --recompile) case ${2:?} in auto | javac | maven) recompile=$2 ;; *) usage >&2; exit 2 ;; esac; shift ;;
    --repeat) repeat=${2:?}; shift ;;
    *) shared_option "$@"; shift $((taken - 1)) ;;
    esac
    shift
done

# Results with another compiler than the usual one are rows of their own.
usual=auto
if [[ $scope == lines ]]; then usual=javac; fi
recompile=${recompile:-$usual}
mode=$scope
if [[ $recompile != "$usual" ]]; then mode=$scope-$recompile; fi
if ((new_map)); then mode=$mode-new-map; fi

needs mvn java git unzip python3
results=$into/gate.tsv
mkdir -p "$into/logs"
if ((fresh)); then rm -f "$results"; fi
touch "$results"
binary=$(sha256sum "$ralph" | cut -c1-12)

# Downloads and the first compilation are not timed; tests that are always red are found here.
prepare() {   # project, its first class
    local home=$into/$1
    if [[ -f $home/red ]]; then return; fi
    note "compiling commons-$1 and looking for tests that are red on untouched code"
    (cd "$home/literal" && mvn_quiet "${skips[@]}" test-compile) >"$into/logs/$1-compile.log" 2>&1 ||
        fail "commons-$1 does not compile, see $into/logs/$1-compile.log"
    find_red "$home/literal" "$2" "$home/red"
}

row() {   # mode, project, class, side, run, binary, "verdict killed total", ns, note
    local verdict killed total
    read -r verdict killed total <<<"$7"
    printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' \
        "$1" "$2" "$3" "$4" "$5" "$6" "$verdict" "$killed" "$total" "$(seconds "$8")" "${9//[$'\t\n']/ }" >>"$results"
}

has_row() {   # mode, project, class, side, run, binary
    grep -qP "^\Q$1\E\t\Q$2\E\t\Q$3\E\t\Q$4\E\t\Q$5\E\t\Q$6\E\t" "$results"
}

run_literal() {   # project, class
    local home=$into/$1 report=$into/$1/$2.xml log=$into/logs/$1-$2-literal.log counts note
    if has_row class "$1" "$2" literal 1 - && [[ $scope != lines || -f $report ]]; then return; fi
    sed -i "/^class\t$1\t${2//./\\.}\tliteral\t/d" "$results"
    literal "$home/literal" "$2" "$report" "$log" "$(cat "$home/red")"
    note="exit $run_code"
    if [[ -f $report ]]; then
        counts=$(python3 "$bench_py" count-literal "$report" "$2")
    elif grep -q 'No mutations found' "$log"; then
        counts='NONE 0 0' note="$note, no mutations found"
    else
        counts='ERROR 0 0' note="$note, see $log"
    fi
    row class "$1" "$2" literal 1 - "$counts" "$run_ns" "$note"
    note "  literal $(seconds "$run_ns") s: $counts"
}

state() {   # repository: its commit, and what differs from it
    git -C "$1" rev-parse HEAD
    git -C "$1" status --porcelain
}

run_ralph() {   # project, class, path, run, ralph's arguments
    local project=$1 class=$2 run=$4 json=$into/logs/$1-$2-ralph.json answer
    local package=$into/$project/workspace/src/commons-$project before
    shift 4
    before=$(state "$package")
    ralph_gate "$into/$project/workspace" "$json" "$@"
    [[ $before == "$(state "$package")" ]] || fail "the gate changed a file, the index or a commit of $package"
    if answer=$(python3 "$bench_py" count-ralph "$json" "$class" 2>/dev/null); then
        row "$mode" "$project" "$class" ralph "$run" "$binary" "${answer% *}" "$run_ns" "exit $run_code, ${answer##* }"
    else
        row "$mode" "$project" "$class" ralph "$run" "$binary" 'ERROR 0 0' "$run_ns" "exit $run_code, see $json.err"
    fi
    note "  ralph   $(seconds "$run_ns") s: ${answer:-no answer}"
}

warm_up() {   # project, path
    local home=$into/$1 list=$into/$1/list.txt
    if [[ -n ${warm[$1]:-} ]]; then return; fi
    note "warming up ralph on commons-$1 (not counted)"
    echo "commons-$1/$2" >"$list"
    ralph_gate "$home/workspace" "$into/logs/$1-warm.json" --diff "$list"
    warm[$1]=1
}
declare -A warm=() warm_lines=()

warm_up_lines() {   # project, path, class
    local package=$into/$1/workspace/src/commons-$1
    if [[ -n ${warm_lines[$1]:-} || -z $(python3 "$bench_py" edit "$package/$2" "$into/$1/$3.xml" "$3" 1) ]]; then
        return
    fi
    note "warming up ralph on a changed class of commons-$1 (not counted)"
    commit_tree "$package" "one line of $3"
    ralph_gate "$into/$1/workspace" "$into/logs/$1-warm.json" --since HEAD~1
    git -C "$package" reset --quiet --hard HEAD~1
    warm_lines[$1]=1
}

judge_class() {   # project, class, path
    local list=$into/$1/list.txt run
    for ((run = 1; run <= repeat; run++)); do
        if has_row "$mode" "$1" "$2" ralph "$run" "$binary"; then continue; fi
        warm_up "$1" "$3"
        echo "commons-$1/$3" >"$list"
        run_ralph "$1" "$2" "$3" "$run" --diff "$list"
    done
}

literal_lines() {   # project, class, path, the changed lines: the literal goal on the class as it was changed
    local home=$into/$1 package=$into/$1/workspace/src/commons-$1 report=$into/$1/$2.lines.xml counts
    if has_row lines "$1" "$2" literal-lines 1 - && [[ -f $report ]]; then return; fi
    sed -i "/^lines\t$1\t${2//./\\.}\tliteral-lines\t/d" "$results"
    cp "$package/$3" "$home/literal/$3"
    literal "$home/literal" "$2" "$report" "$into/logs/$1-$2-literal-lines.log" "$(cat "$home/red")"
    git -C "$package" show "HEAD~1:$3" >"$home/literal/$3"
    # The next run of the literal goal finds its classes compiled, as before.
    (cd "$home/literal" && mvn_quiet "${skips[@]}" test-compile) >"$into/logs/$1-compile.log" 2>&1
    counts='ERROR 0 0'
    if [[ -f $report ]]; then counts=$(python3 "$bench_py" count-literal "$report" "$2" "$4"); fi
    row lines "$1" "$2" literal-lines 1 - "$counts" "$run_ns" "lines $4"
    note "  literal $(seconds "$run_ns") s on the changed class: $counts"
}

judge_lines() {   # project, class, path
    local package=$into/$1/workspace/src/commons-$1 report=$into/$1/$2.xml run changed counts
    if [[ ! -f $report ]]; then return; fi
    for ((run = 1; run <= repeat; run++)); do
        if has_row "$mode" "$1" "$2" ralph "$run" "$binary"; then continue; fi
        warm_up "$1" "$3"
        warm_up_lines "$1" "$3" "$2"
        changed=$(python3 "$bench_py" edit "$package/$3" "$report" "$2" "$lines")
        if [[ -z $changed ]]; then return; fi
        commit_tree "$package" "five lines of $2"
        literal_lines "$1" "$2" "$3" "$changed"
        run_ralph "$1" "$2" "$3" "$run" --since HEAD~1
        git -C "$package" reset --quiet --hard HEAD~1
    done
}

literal_weak() {   # project, class, own tests, half or all: the literal goal with the tests as they are in the workspace
    local home=$into/$1 package=$into/$1/workspace/src/commons-$1 report=$into/$1/$2.weak.xml counts='ERROR 0 0' test
    local deleted="$4 of the assertions deleted"
    if grep -qP "^fail\t\Q$1\E\t\Q$2\E\tliteral-weak\t.*\t$deleted$" "$results"; then return; fi
    sed -i "/^fail\t$1\t${2//./\\.}\tliteral-weak\t/d" "$results"
    for test in $3; do cp "$package/$test" "$home/literal/$test"; done
    literal "$home/literal" "$2" "$report" "$into/logs/$1-$2-literal-weak.log" "$(cat "$home/red")"
    for test in $3; do git -C "$package" show "HEAD~1:$test" >"$home/literal/$test"; done
    (cd "$home/literal" && mvn_quiet "${skips[@]}" test-compile) >"$into/logs/$1-compile.log" 2>&1
    if [[ -f $report ]]; then counts=$(python3 "$bench_py" count-literal "$report" "$2"); fi
    row fail "$1" "$2" literal-weak 1 - "$counts" "$run_ns" "$deleted"
    note "  literal $(seconds "$run_ns") s with $deleted: $counts"
}

judge_fail() {   # project, class, path
    local home=$into/$1 package=$into/$1/workspace/src/commons-$1 list=$into/$1/list.txt tests test part
    if has_row "$mode" "$1" "$2" ralph 2 "$binary"; then return; fi
    tests=$(cd "$package" && tests_of "$3")
    echo "commons-$1/$3" >"$list"
    if [[ -z ${warm[$1]:-} ]]; then ralph_gate "$home/workspace" "$into/logs/$1-warm.json" --map --diff "$list"; fi
    warm[$1]=1
    for part in half all; do
        for test in $tests; do python3 "$bench_py" weaken "$package/$test" "$part"; done
        if git -C "$package" diff --quiet; then
            if [[ $part == half ]]; then continue; fi
            note '  its tests have no assertion that begins a line'
            return
        fi
        commit_tree "$package" "weaker tests of $2"
        if ! (cd "$package" && mvn_quiet -o "${skips[@]}" test-compile) >"$into/logs/$1-compile.log" 2>&1; then
            note '  its tests do not compile without these assertions'
            git -C "$package" reset --quiet --hard HEAD~1
            return
        fi
        rm -rf "$package/target"
        if ((new_map)); then rm -rf "$into/cache/ralph/facts/coverage-maps"; fi
        sed -i "/^$mode\t$1\t${2//./\\.}\tralph\t1\t$binary\t/d" "$results"
        run_ralph "$1" "$2" "$3" 1 --diff "$list"
        if [[ $part == all ]] || has_row "$mode" "$1" "$2" ralph 1 "$binary"$'\t'FAIL; then break; fi
        git -C "$package" reset --quiet --hard HEAD~1
    done
    literal_weak "$1" "$2" "$tests" "$part"
    git -C "$package" revert --no-edit HEAD >/dev/null
    run_ralph "$1" "$2" "$3" 2 --diff "$list"
    git -C "$package" reset --quiet --hard HEAD~2
}

# A function, so that bash has read the whole script before a long run begins: it may be edited meanwhile.
main() {
    begin_at=$(machine)
    wanted=''
    for project in "${projects[@]}"; do
        make_project "$project"
        mapfile -t paths < <(chosen "$project")
        if ((${#paths[@]} == 0)) || [[ -z ${paths[0]} ]]; then continue; fi
        for path in "${paths[@]}"; do wanted+=",$project/$(class_of "$path")"; done
        if ((only_table)); then continue; fi
        write_config "$into/$project/workspace" "scope: ${scope/fail/class}" "recompile: $recompile"
        # An edit of a run that was cut short is taken back.
        package=$into/$project/workspace/src/commons-$project
        git -C "$package" reset --quiet --hard "$(git -C "$package" rev-list --max-parents=0 HEAD)"
        prepare "$project" "$(class_of "${paths[0]}")"
        number=0
        for path in "${paths[@]}"; do
            number=$((number + 1))
            class=$(class_of "$path")
            note "[$project $number/${#paths[@]}] $class"
            run_literal "$project" "$class"
            "judge_$scope" "$project" "$class" "$path"
        done
    done
    if [[ -z $wanted ]]; then fail 'no class of that name has a test of its own'; fi

    echo
    echo "$begin_at"
    echo "scope: $scope, recompile: $recompile; ralph's side $repeat time(s); every time is of a whole command, caches warm"
    for project in "${projects[@]}"; do
        if [[ -f $into/$project/red ]]; then
            red=$(cat "$into/$project/red")
            echo "commons-$project, red on untouched code and excluded from the literal goal: ${red:-none}"
        fi
    done
    echo
    table=table
    if [[ $scope == fail ]]; then table=table-of-fails; fi
    python3 "$bench_py" "$table" "$results" "$binary" "$mode" "${wanted#,}"
}

main; exit
