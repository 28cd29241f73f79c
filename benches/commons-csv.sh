#!/usr/bin/env bash
# The mutation gate alone on a project that nobody here wrote: Apache Commons CSV 1.14.1.
#
#   benches/commons-csv.sh [--ralph PATH] [--into DIR]
#
# Makes the project from what Maven Central publishes (POM, sources, test sources), commits it, touches
# `Token` and `CSVRecord` in a second commit, and asks `ralph gate PITEST --since HEAD~1` twice: with an
# empty cache of ralph's own, then with the one that the first run left. Maven's repository (~/.m2) is the
# caller's; its first use adds downloads to the figures, so everything is resolved once before.
#
# Prints the verdict, the counts of each class and the wall time. Ends with 1 when the gate changed a file
# of the project, when a class is missing from the report, or when the two runs disagree.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
ralph=$root/target/release/ralph
into=
coordinates=org.apache.commons:commons-csv:1.14.1
main=src/main/java/org/apache/commons/csv
skips=(-Drat.skip -Denforcer.skip -Dcheckstyle.skip)   # checks of Apache's own, some for a newer Maven

usage() { sed -n '2,/^set -/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
fail() { echo "FAILED: $*" >&2; exit 1; }

while (($#)); do
    case $1 in
    --ralph) ralph=$(realpath "${2:?}"); shift ;;
    --into) into=${2:?}; shift ;;
    *) usage ;;
    esac
    shift
done
if [[ ! -x $ralph ]]; then
    echo "No binary at $ralph: run \`cargo build --release\` first, or name one with --ralph." >&2
    exit 2
fi

scratch=$(mktemp -d "${TMPDIR:-/tmp}/ralph-csv.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
into=${into:-$scratch/workspace}
project=$into/src/commons-csv
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=bench GIT_AUTHOR_EMAIL=bench@example.org
export GIT_COMMITTER_NAME=bench GIT_COMMITTER_EMAIL=bench@example.org

fetch() {   # classifier and type, file
    mvn -q -B -Dstyle.color=never dependency:copy -Dartifact="$coordinates:$1" -DoutputDirectory="$scratch/jars" \
        -Dmdep.stripVersion=true </dev/null
    [[ -f $scratch/jars/$2 ]] || fail "Maven did not bring $2"
}

make_project() {
    mkdir -p "$project/src/main/java" "$project/src/test/java" "$project/src/test/resources" "$into/.ralph"
    fetch pom commons-csv.pom
    fetch jar:sources commons-csv-sources.jar
    fetch jar:test-sources commons-csv-test-sources.jar
    cp "$scratch/jars/commons-csv.pom" "$project/pom.xml"
    unzip -q "$scratch/jars/commons-csv-sources.jar" 'org/*' -d "$project/src/main/java"
    unzip -q "$scratch/jars/commons-csv-test-sources.jar" -x 'META-INF/*' -d "$project/src/test/resources"
    # The one archive holds tests and their data; Maven wants them apart.
    (cd "$project/src/test/resources" && find . -name '*.java' -print0 |
        while IFS= read -r -d '' file; do
            mkdir -p "../java/${file%/*}"
            mv "$file" "../java/$file"
        done)
    echo /target/ >"$project/.gitignore"
    {
        echo 'packages: ["src/*"]'
        printf 'gates:\n  PITEST:\n    maven_args: ['
        printf '"%s", ' "${skips[@]}"
        echo ']'
    } >"$into/.ralph/config.yaml"
    git init --quiet "$project"
    git -C "$project" add --all
    git -C "$project" commit --quiet --message 'commons-csv 1.14.1 as published'
}

touch_classes() {   # a comment in one class, a private method in the other
    local class
    for class in Token CSVRecord; do
        sed -i '$d' "$project/$main/$class.java"
        [[ $(tail -c 300 "$project/$main/$class.java") == *'}'* ]] || fail "$class.java ends in an unknown way"
    done
    printf '    // Touched.\n}\n' >>"$project/$main/Token.java"
    printf '    private boolean isWide() {\n        return values.length > 10;\n    }\n}\n' \
        >>"$project/$main/CSVRecord.java"
    git -C "$project" commit --quiet --all --message 'Token and CSVRecord are touched'
}

state() {   # of the project: what is committed, what is not, and the bytes on the disk
    git -C "$project" rev-parse HEAD 'HEAD^{tree}'
    git -C "$project" status --porcelain
    (cd "$project" && find . -path ./.git -prune -o -path ./target -prune -o -type f -print0 |
        sort -z | xargs -0 sha256sum | sha256sum)
}

gate() {   # title
    local title=$1 begin end code=0
    begin=$(date +%s%N)
    (cd "$into" && XDG_CACHE_HOME=$scratch/cache "$ralph" gate PITEST --since HEAD~1 --json) \
        >"$scratch/$title.json" 2>"$scratch/$title.err" </dev/null || code=$?
    end=$(date +%s%N)
    awk -v title="$title" -v code="$code" -v ns=$((end - begin)) \
        'BEGIN { printf "%-5s exit %d, wall %.1f s\n", title, code, ns / 1e9 }'
    ((code <= 1)) || { cat "$scratch/$title.json" "$scratch/$title.err" >&2; fail 'the gate gave no verdict'; }
    python3 - "$scratch/$title.json" "$scratch/$title.counts" <<'PY'
import json, sys

report = json.load(open(sys.argv[1]))["report"]
lines = [f"verdict {report['verdict']}"]
lines += [f"reason {reason}" for reason in report.get("reasons", [])]
for score in report["classes"]:
    t = score["tally"]
    lines.append(f"{score['class']}: killed {t['killed']}, timed out {t['timed_out']}, "
                 f"survived {t['survived']}, not covered {t['no_coverage']}, errors {t['errors']}")
lines += [f"not judged {left['file']}: {left['why']}" for left in report.get("left_out", [])]
lines += [f"remark {remark}" for remark in report.get("remarks", [])]
for line in lines:
    print("      " + line)
open(sys.argv[2], "w").write("\n".join(lines) + "\n")
PY
    local class
    for class in Token CSVRecord; do
        grep -q "^org.apache.commons.csv.$class: " "$scratch/$title.counts" || fail "$class was not judged"
    done
}

echo "$(mvn -B -Dstyle.color=never --version | sed -n 1p)   $(nproc) processors, load $(cut -d' ' -f1 /proc/loadavg)"
make_project
touch_classes
# Downloads are Maven Central's time, not the gate's.
(cd "$project" && mvn -q -B -Dstyle.color=never "${skips[@]}" test-compile </dev/null)
(cd "$project" && mvn -q -B -Dstyle.color=never "${skips[@]}" clean </dev/null)
before=$(state)
gate cold
gate warm
after=$(state)
[[ $before == "$after" ]] || fail "the project was changed:"$'\n'"$(diff <(echo "$before") <(echo "$after"))"
cmp -s "$scratch/cold.counts" "$scratch/warm.counts" || fail 'the two runs counted differently'
echo "the project's files, index and commits are as they were"
