#!/usr/bin/env bash
# An audit of a real history: commons-cli from 1.5.0 to 1.10.0, as `docs/examples/commons-cli.{md,html}` show it.
#
#   benches/audit.sh [options]
#
#   --quick          the last release only
#   --ralph PATH     the binary (default target/release/ralph)
#   --into DIR       where the history and the results are kept (default target/bench)
#   --fresh          forget earlier results of this script
#   --table          judge nothing, write the reports of the results in DIR
#   --help
#
# The history is that of the releases on Maven Central (POM, `sources` and `test-sources` artifacts), one commit each.
# Its tasks.md has a box for each class that a release added or changed, and each commit ticks those of its release:
# nobody claimed this in so many words, and what the gate says of a box is what it would have said at that commit.
# Each release is a part of its own, so that a run that was cut off goes on where it was.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
ralph=$root/target/release/ralph
into=$root/target/bench
quick=0 fresh=0 only_table=0 threads=0

usage() { sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"; }

# shellcheck source=benches/maven-central.bash
source "$root/benches/maven-central.bash"

while (($#)); do
    case $1 in
    --quick) quick=1 ;;
    *) shared_option "$@"; shift $((taken - 1)) ;;
    esac
    shift
done

releases=(1.5.0 1.6.0 1.7.0 1.8.0 1.9.0 1.10.0)
needs mvn java git unzip
home=$into/audit-cli
project=$home/commons-cli
parts=$home/parts
mkdir -p "$into/logs"
if ((fresh)); then rm -rf "$home"; fi

# The classes that differ between two trees: their names, one a line.
changed_classes() {   # older tree, newer tree
    (cd "$2/src/main/java" && find . -name '*.java' ! -name '*-info.java' | LC_ALL=C sort) |
        while IFS= read -r path; do
            cmp -s "$1/src/main/java/$path" "$2/src/main/java/$path" || basename "$path" .java
        done
}

make_history() {
    if [[ -f $home/made ]]; then return; fi
    rm -rf "$home"
    mkdir -p "$project" "$parts"
    local at class number release plan=$home/plan.md
    echo '# commons-cli' >"$plan"
    for ((at = 0; at < ${#releases[@]}; at++)); do
        release=${releases[at]}
        note "unpacking $release"
        mkdir -p "$home/trees/$release"
        fill_tree "$home/trees/$release" "commons-cli:commons-cli:$release"
        if ((!at)); then continue; fi
        printf '\n## %s\n\n' "$release" >>"$plan"
        number=0
        while IFS= read -r class; do
            number=$((number + 1))
            echo "- [ ] $at.$number \`$class\` as released in $release" >>"$plan"
        done < <(changed_classes "$home/trees/${releases[at - 1]}" "$home/trees/$release")
    done
    cp "$plan" "$project/tasks.md"
    for ((at = 0; at < ${#releases[@]}; at++)); do
        release=${releases[at]}
        rm -rf "$project/src" "$project/pom.xml"
        cp -a "$home/trees/$release/." "$project/"
        sed -i "s/^- \[ \] $at\./- [x] $at./" "$project/tasks.md"
        # The same commits whenever they are made.
        export GIT_AUTHOR_DATE="2026-01-0$((at + 1))T00:00:00Z"
        export GIT_COMMITTER_DATE=$GIT_AUTHOR_DATE
        commit_tree "$project" "commons-cli $release"
        git -C "$project" tag "$release"
    done
    write_config "$project" 'limit: 40m'
    sed -i '/^packages:/d' "$project/.ralph/config.yaml"
    touch "$home/made"
}

audit() {
    XDG_CACHE_HOME=$into/cache "$ralph" audit --past "$project" --gate PITEST "$@" </dev/null
}

# A function, so that bash has read the whole script before a long run begins: it may be edited meanwhile.
main() {
    make_history
    local count=$((${#releases[@]} - 1)) number code
    for ((number = 1; number <= count && !only_table; number++)); do
        if ((quick && number > 1)) || [[ -s $parts/$number.json ]]; then continue; fi
        code=0
        audit --shard "$number/$count" --json >"$parts/$number.tmp" || code=$?
        ((code == 0 || code == 1 || code == 3)) || fail "part $number ended with $code"
        mv "$parts/$number.tmp" "$parts/$number.json"
    done
    code=0
    audit --merge "$parts" --output "$home/commons-cli.html" || code=$?
    audit --merge "$parts" --output "$home/commons-cli.md" || code=$?
    note "exit code $code; the reports are $home/commons-cli.{md,html}"
    machine
}

main; exit
