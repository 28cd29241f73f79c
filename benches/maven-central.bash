# Real projects out of Maven Central, and both gates on one class of them. Sourced by gate.sh, tiers.sh
# and history.sh.
#
# Needs: Java 17, Maven, git, unzip, python3. `$into` is where everything is made, `$ralph` the binary,
# `$threads` the threads of the literal goal.
# shellcheck shell=bash

pit=1.25.9
pit_junit5=1.2.3
# Checks of Apache's own build that have nothing to do with tests, some for a newer Maven.
skips=(-Drat.skip -Dmaven.antrun.skip -Denforcer.skip -Dcheckstyle.skip -Dspotbugs.skip -Dpmd.skip -Dcpd.skip -Djapicmp.skip)
bench_py=$(dirname "${BASH_SOURCE[0]}")/gate.py

# No git settings of a person's count; each commit has the same author.
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=bench GIT_AUTHOR_EMAIL=bench@example.org
export GIT_COMMITTER_NAME=bench GIT_COMMITTER_EMAIL=bench@example.org

# An option that both scripts have; `taken` is the number of words that it is.
shared_option() {   # option, value
    taken=1
    case $1 in
    --threads) threads=${2:?}; taken=2 ;;
    --ralph) ralph=$(realpath "${2:?}"); taken=2 ;;
    --into) into=$(realpath -m "${2:?}"); taken=2 ;;
    --fresh) fresh=1 ;;
    --table) only_table=1 ;;
    --help | -h) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
    esac
}

fail() { echo "FAILED: $*" >&2; exit 1; }
note() { echo "$*" >&2; }

needs() {   # programs
    local program
    for program in "$@"; do
        command -v "$program" >/dev/null || fail "$program is not on PATH"
    done
    [[ -x $ralph ]] || fail "no binary at $ralph: run \`cargo build --release\`, or name one with --ralph"
}

mvn_quiet() {   # arguments
    mvn -B -q -Dstyle.color=never "$@" </dev/null
}

fetch() {   # group:artifact:version, type[:classifier]; prints the file's path
    local coordinates=$1 kind=$2 group artifact version file
    IFS=: read -r group artifact version <<<"$coordinates"
    case $kind in
    pom) file=$artifact-$version.pom ;;
    jar:*) file=$artifact-$version-${kind#jar:}.jar ;;
    esac
    if [[ ! -f $into/jars/$file ]]; then
        note "fetching $coordinates:$kind"
        mvn_quiet org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy \
            "-Dartifact=$group:$artifact:$version:$kind" "-DoutputDirectory=$into/jars" >"$into/logs/fetch.log" 2>&1 ||
            fail "Maven brought no $coordinates:$kind, see $into/logs/fetch.log"
    fi
    echo "$into/jars/$file"
}

# A source tree as Maven wants it, out of the archives that hold code and data together.
fill_tree() {   # folder, group:artifact:version
    local folder=$1 coordinates=$2 side archive
    rm -rf "$folder/src" "$folder/pom.xml"
    cp "$(fetch "$coordinates" pom)" "$folder/pom.xml"
    for side in main test; do
        archive=$(fetch "$coordinates" "jar:$([[ $side == main ]] && echo sources || echo test-sources)")
        mkdir -p "$folder/src/$side/java" "$folder/src/$side/resources"
        unzip -q -o "$archive" -x 'META-INF/*' -d "$folder/src/$side/resources"
        (cd "$folder/src/$side/resources" && find . -name '*.java' -print0 |
            while IFS= read -r -d '' file; do
                mkdir -p "../java/${file%/*}"
                mv "$file" "../java/$file"
            done
            find . -type d -empty -delete)
        mkdir -p "$folder/src/$side/resources"
    done
    echo /target/ >"$folder/.gitignore"
}

commit_tree() {   # folder, message
    [[ -d $1/.git ]] || git init --quiet --initial-branch main "$1"
    git -C "$1" add --all
    git -C "$1" commit --quiet --message "$2"
}

# The literal goal gives no verdict on a JUnit 5 project without this plugin in the POM.
add_pit() {   # folder
    python3 "$bench_py" add-pit "$1/pom.xml" "$pit" "$pit_junit5"
}

write_config() {   # workspace, settings of the gate, `key: value` each
    local workspace=$1 sep=''
    shift
    mkdir -p "$workspace/.ralph"
    {
        echo 'packages: ["src/*"]'
        printf 'gates:\n  PITEST:\n'
        printf '    %s\n' "$@"
        printf '    maven_args: ['
        for flag in "${skips[@]}"; do printf '%s"%s"' "$sep" "$flag"; sep=', '; done
        echo ']'
    } >"$workspace/.ralph/config.yaml"
}

# The projects of gate.sh and tiers.sh, and where each is made.
coordinates() {   # project
    case $1 in
    csv) echo org.apache.commons:commons-csv:1.14.1 ;;
    text) echo org.apache.commons:commons-text:1.14.0 ;;
    cli) echo commons-cli:commons-cli:1.10.0 ;;
    codec) echo commons-codec:commons-codec:1.18.0 ;;
    collections) echo org.apache.commons:commons-collections4:4.5.0 ;;
    validator) echo commons-validator:commons-validator:1.10.0 ;;
    esac
}

make_project() {   # project
    local home=$into/$1 name=commons-$1
    if [[ -f $home/made ]]; then return; fi
    note "making $name"
    rm -rf "$home"
    mkdir -p "$home/literal" "$home/workspace/src/$name"
    fill_tree "$home/literal" "$(coordinates "$1")"
    cp -a "$home/literal/." "$home/workspace/src/$name/"
    add_pit "$home/literal"
    commit_tree "$home/workspace/src/$name" 'as published'
    touch "$home/made"
}

# The test classes of a class by their names, from the project's folder, which is the current one.
tests_of() {   # path of a class
    local name
    name=$(basename "$1" .java)
    find src/test/java \( -name "${name}Test.java" -o -name "Test$name.java" -o -name "${name}Tests.java" \
        -o -name "${name}TestCase.java" \) -print
}

# Classes that have a test class of their own: `path` of each, from the project's folder.
classes_with_tests() (   # project folder
    cd "$1" && find src/main/java -name '*.java' ! -name package-info.java ! -name module-info.java | LC_ALL=C sort |
        while IFS= read -r path; do
            if [[ -n $(tests_of "$path") ]]; then echo "$path"; fi
        done
)

# `$classes` names them, else `$sample` says how many.
chosen() {   # project; the paths of the classes to be judged
    local all
    all=$(classes_with_tests "$into/$1/literal")
    if [[ -n $classes ]]; then
        local path name
        while IFS= read -r path; do
            name=$(basename "$path" .java)
            if [[ ,$classes, == *",$name,"* || ,$classes, == *",$(class_of "$path"),"* ]]; then echo "$path"; fi
        done <<<"$all"
    elif ((sample > 0)); then
        awk -v n="$sample" '{ all[NR] = $0 } END { if (n > NR) n = NR
            for (i = 0; i < n; i++) print all[int(i * NR / n) + 1] }' <<<"$all"
    else
        echo "$all"
    fi
}

class_of() {   # path
    local class=${1#src/main/java/}
    class=${class%.java}
    echo "${class//\//.}"
}

# The literal goal on one class, timed whole; `run_ns`, `run_code`; the report goes to a file of ours, which is
# missing afterwards when the goal left none.
literal() {   # project folder, class, report, log, excluded test classes (a,b)
    local folder=$1 class=$2 report=$3 log=$4 red=$5 begin end found
    local arguments=("${skips[@]}" test-compile "org.pitest:pitest-maven:$pit:mutationCoverage"
        "-DtargetClasses=$class,$class\$*" -DoutputFormats=XML "-Dthreads=$threads")
    if [[ -n $red ]]; then arguments+=("-DexcludedTestClasses=$red"); fi
    rm -rf "$folder/target/pit-reports" "$report"
    run_code=0
    begin=$(date +%s%N)
    (cd "$folder" && mvn -B -Dstyle.color=never "${arguments[@]}") >"$log" 2>&1 </dev/null || run_code=$?
    end=$(date +%s%N)
    run_ns=$((end - begin))
    found=$(find "$folder/target/pit-reports" -name mutations.xml -print -quit 2>/dev/null || true)
    if [[ -n $found ]]; then mv "$found" "$report"; fi
}

# Test classes that are red on untouched code: the literal goal stops at them whatever class it is asked for.
# Each round names those that PIT met; written to a file, one line, comma-separated.
find_red() {   # project folder, a class, file
    local folder=$1 class=$2 file=$3 red='' more log=$3.log
    for _ in 1 2 3 4 5; do
        literal "$folder" "$class" "$file.xml" "$log" "$red"
        more=$(python3 "$bench_py" red "$log" "$red")
        if [[ $more == "$red" ]]; then break; fi
        red=$more
    done
    echo "$red" >"$file"
    rm -f "$file.xml"
}

# `ralph gate`, timed whole; `run_ns`, `run_code`; its JSON goes to a file.
ralph_gate() {   # workspace, JSON file, arguments
    local workspace=$1 json=$2 begin end
    shift 2
    run_code=0
    begin=$(date +%s%N)
    XDG_CACHE_HOME=$into/cache "$ralph" --root "$workspace" gate PITEST "$@" --json \
        >"$json" 2>"$json.err" </dev/null || run_code=$?
    end=$(date +%s%N)
    run_ns=$((end - begin))
}

seconds() { awk -v ns="$1" 'BEGIN { printf "%.2f", ns / 1e9 }'; }

machine() {
    # Some builds of Maven end their output with a colour reset even so.
    echo "$(mvn -B -Dstyle.color=never --version 2>/dev/null | sed -n '1s/\x1b\[[0-9;]*m//gp;'), Java $(java -XshowSettings:properties -version 2>&1 |
        sed -n 's/^ *java.version = //p'), $(nproc) processors, load $(cut -d' ' -f1 /proc/loadavg); PIT $pit," \
        "literal goal with $threads thread(s); $("$ralph" --version)"
}
