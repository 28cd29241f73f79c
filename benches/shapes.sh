#!/usr/bin/env bash
# `ralph gate` and the literal mutation goal on many small Maven projects, each as companies have them.
#
#   benches/shapes.sh [options]
#
#   --shape A,B          only these shapes
#   --common             only the commonest dozen
#   --list               names the shapes, and what each is made of
#   --together           all shapes are packages of one workspace, judged by one call (default: one workspace each)
#   --without-literal    runs only ralph
#   --ralph PATH         the binary (default target/release/ralph)
#   --into DIR           where projects and results are kept (default target/shapes)
#   --fresh              forget earlier results; without it, what is in DIR/shapes.tsv is not run again
#                        (ralph's rows count only for the binary that made them)
#   --table              run nothing, print the table of the results in DIR
#   --help
#
# Each shape (benches/shapes.bash) is a package with three commits: one before the class; one with the class and a test
# that kills its mutants, on which the verdict must be PASS; one in which that test asserts nothing, on which it must be
# FAIL. `ralph gate PITEST` judges the last two, by default out of the box. The literal goal gets a plain copy, in whose
# POM stands what it needs at least: pitest-maven, and PIT's plugin for JUnit 5 or TestNG.
#
#   mvn test-compile org.pitest:pitest-maven:1.25.9:mutationCoverage -DtargetClasses=F,F$* -DoutputFormats=XML
#
# The test suite runs only three shapes, which tests/gate/shapes.rs names. Run the whole list by hand after a change of how
# packages are built. It takes about 15 seconds of a processor per shape.
#
# The exit code is 0 if ralph's verdicts are all as they must be, otherwise 1; the literal goal's are only compared.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
ralph=$root/target/release/ralph
into=$root/target/shapes
threads=1 fresh=0 only_table=0 wanted='' common=0 list=0 together=0 with_literal=1

usage() { sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"; }

# shellcheck source=benches/maven-central.bash
source "$root/benches/maven-central.bash"
# shellcheck source=benches/shapes.bash
source "$root/benches/shapes.bash"

while (($#)); do
    case $1 in
    --shape) wanted=${2:?}; shift ;;
    --common) common=1 ;;
    --list) list=1 ;;
    --together) together=1 ;;
    --without-literal) with_literal=0 ;;
    *) shared_option "$@"; shift $((taken - 1)) ;;
    esac
    shift
done
skips=()

# ------------------------------------------------------------------------------------------------- making a shape
put() {   # path in the package, text
    mkdir -p "$folder/$(dirname "$1")"
    printf '%s\n' "$2" >"$folder/$1"
}

pinned_plugin() {   # artifact, version, what else
    echo "<plugin><artifactId>maven-$1-plugin</artifactId>${pinned:+<version>$2</version>}${3:-}</plugin>"
}

pom() {   # artifact, what comes behind its properties
    echo "<project xmlns=\"http://maven.apache.org/POM/4.0.0\"><modelVersion>4.0.0</modelVersion>$parent"
    echo "<groupId>com.acme</groupId><artifactId>$1</artifactId><version>1</version>"
    echo "<properties><project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>"
    echo "${release:+<maven.compiler.release>$release</maven.compiler.release>}$properties</properties>$2</project>"
}

module_pom() {   # artifact: a module that holds no class to be judged
    pom "$1" "<build><plugins>$(pinned_plugin resources 3.3.1)$(pinned_plugin compiler 3.13.0)$(pinned_plugin surefire 3.2.5)</plugins></build>"
}

# Maven 3.8 binds plugins of its own time, so each POM pins those of today.
class_pom() {   # name
    pom "$1" "$head<dependencies>$dependencies</dependencies><build>$resources<plugins>
$(pinned_plugin resources 3.3.1)$first_plugins
$(pinned_plugin compiler 3.13.0 "<configuration>$compiler</configuration>$more_executions")
$(pinned_plugin surefire 3.2.5 "<configuration>${arguments:+<argLine>$arguments</argLine>}$surefire</configuration>$more_surefire")
$plugins</plugins></build>"
}

make_shape() {   # name, folder, version (base, kill or weak), `literal` for the goal's copy
    local name=$1 folder=$2 version=$3 trait
    local parent='' pinned=1 release=17 properties='' head='' dependencies='' resources='' first_plugins='' plugins='' more_executions='' more_surefire=''
    local surefire='' compiler='' arguments='' modules='' module='.' jupiter='' imports='' annotations='' extends='' members='' same=''
    local modifier='public ' ignored=target/ test=PriceTest test_file='' test_text=''
    local methods=$'public int plus(int other) { return cents + other; }\n    public boolean isHigh() { return cents > 1000; }'
    local code=$'package com.acme;\npublic class Price {\n    private final int cents;\n    public Price(int cents) { this.cents = cents; }\n    '"$methods"$'\n}'
    local calls='same(5, new Price(2).plus(3)); same(false, new Price(1000).isHigh()); same(true, new Price(1001).isHigh());'
    for trait in $(traits "$name"); do
        if declare -F "$trait" >/dev/null; then "$trait"; else "${trait%%_*}" "${trait#*_}"; fi
    done
    if [[ ${4:-} == literal ]]; then plugins+=$(pit_plugin); fi
    if [[ $version == weak ]]; then same=''; fi
    put .gitignore "$ignored"
    put "$module/pom.xml" "$(class_pom "$name")"
    if [[ -n $modules ]]; then put pom.xml "$(release='' properties='' pom "$name-all" "<packaging>pom</packaging><modules>$modules</modules>")"; fi
    if [[ $version == base ]]; then return; fi
    put "$module/src/main/java/com/acme/Price.java" "$code"
    if [[ -z $test_text ]]; then
        test_text="package com.acme;
$imports
$annotations ${modifier}class $test $extends {
    $members
    @Test ${modifier}void prices() throws Exception { $calls }
    static void same(Object a, Object b) { @SAME@ }
}"
    fi
    put "$module/${test_file:-src/test/java/com/acme/$test.java}" "${test_text//@SAME@/$same}"
}

pit_plugin() {
    local engine=''
    case $dependencies in
    *testng*) engine=pitest-testng-plugin:1.0.0 ;;
    *jupiter* | *vintage* | *spock* | *spring-boot*) engine=pitest-junit5-plugin:$pit_junit5 ;;
    esac
    echo "<plugin><groupId>org.pitest</groupId><artifactId>pitest-maven</artifactId><version>$pit</version>"
    if [[ -n $engine ]]; then
        echo "<dependencies><dependency><groupId>org.pitest</groupId><artifactId>${engine%:*}</artifactId><version>${engine#*:}</version></dependency></dependencies>"
    fi
    echo '</plugin>'
}

# ------------------------------------------------------------------------------------------------------ the table
row_of() { grep -E "^[*+]*$1: " <<<"$shapes" || fail "there is no shape $1; --list names them"; }
traits() { row_of "$1" | sed 's/^[^:]*: //'; }

names() {
    if [[ -n $wanted ]]; then tr , '\n' <<<"$wanted"; return; fi
    sed -n "s/^$( ((common)) && echo '\*' || echo '[*+]*')\([a-z0-9-]*\): .*/\1/p" <<<"$shapes"
}

row() {   # shape, version, side, answer, ns
    printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$([[ $3 == ralph ]] && echo "$binary" || echo -)" "$4" "$(seconds "$5")" >>"$results"
    note "  $3, $2: $4 ($(seconds "$5") s)"
}

has_row() {   # shape, version, side
    grep -qP "^\Q$1\E\t$2\t$3\t$([[ $3 == ralph ]] && echo "$binary" || echo -)\t" "$results"
}

run_literal() {   # shape, version
    local plain=$into/literal/$1 log=$into/logs/$1-$2-literal.log begin found answer=NONE code=0
    if has_row "$1" "$2" literal; then return; fi
    rm -rf "$plain"
    make_shape "$1" "$plain" "$2" literal
    begin=$(date +%s%N)
    (cd "$plain" && mvn -B -Dstyle.color=never test-compile "org.pitest:pitest-maven:$pit:mutationCoverage" -DfailWhenNoMutations=false \
        '-DtargetClasses=com.acme.Price,com.acme.Price$*' -DoutputFormats=XML) >"$log" 2>&1 </dev/null || code=$?
    found=$(find "$plain" -path '*/pit-reports/mutations.xml' -print -quit)
    if [[ -n $found ]]; then answer=$(python3 "$bench_py" count-literal "$found" com.acme.Price); elif ((code)); then answer=ERROR; fi
    row "$1" "$2" literal "$answer" "$(($(date +%s%N) - begin))"
}

judge() {   # workspace, version, shapes
    local workspace=$1 version=$2 json=$into/logs/${1##*/}-$2-ralph.json shape
    shift 2
    for shape in "$@"; do
        make_shape "$shape" "$workspace/src/$shape" "$version"
        commit_tree "$workspace/src/$shape" "$version"
    done
    ralph_gate "$workspace" "$json" --since "$([[ $version == kill ]] && echo HEAD~1 || echo HEAD~2)"
    for shape in "$@"; do
        row "$shape" "$version" ralph "$(python3 "$bench_py" count-package "$json" "$shape")" "$run_ns"
    done
}

run_ralph() {   # workspace, shapes
    local workspace=$1 shape
    shift
    for shape in "$@"; do
        if ! has_row "$shape" kill ralph || ! has_row "$shape" weak ralph; then break; fi
        shape=''
    done
    if [[ -z $shape ]]; then return; fi
    rm -rf "$workspace"
    write_config "$workspace" 'limit: 10m'
    for shape in "$@"; do
        make_shape "$shape" "$workspace/src/$shape" base
        commit_tree "$workspace/src/$shape" base
    done
    judge "$workspace" kill "$@"
    judge "$workspace" weak "$@"
}

main() {
    local all shape number=0
    mapfile -t all < <(names)
    for shape in "${all[@]}"; do row_of "$shape" >/dev/null; done
    if ((list)); then
        for shape in "${all[@]}"; do row_of "$shape"; done
        return
    fi
    needs mvn java git python3
    results=$into/shapes.tsv
    binary=$(sha256sum "$ralph" | cut -c1-12)
    mkdir -p "$into/logs"
    if ((fresh)); then rm -f "$results"; fi
    touch "$results"
    if ((!only_table)); then
        if ((together)); then run_ralph "$into/together" "${all[@]}"; fi
        for shape in "${all[@]}"; do
            number=$((number + 1))
            note "[$number/${#all[@]}] $shape"
            if ((!together)); then run_ralph "$into/workspaces/$shape" "$shape"; fi
            if ((with_literal)); then
                run_literal "$shape" kill
                run_literal "$shape" weak
            fi
        done
    fi
    machine
    python3 "$bench_py" shapes "$results" "$binary" "$(for shape in "${all[@]}"; do row_of "$shape"; done)"
}

main; exit
