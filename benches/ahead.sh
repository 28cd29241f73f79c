#!/usr/bin/env bash
# The wall time that the mutation gate adds to a family whose reviewer takes as long as the gate.
#
#   benches/ahead.sh [--ralph PATH] [--rounds N] [--reviewer SECONDS] [--keep DIR]
#
# Makes a small Maven package and a scripted agent: the worker commits a class and its test, the reviewer
# does nothing but take its time, as an agent does that waits for its model. `ralph run` then works through
# the same tasks in three ways, in turns, so that all meet the same machine:
#
#   without   the tasks have no gate
#   in turn   `ahead: false`: the gate runs when the reviewer has passed
#   ahead     `ahead: true`: the gate runs beside the reviewer, and its verdict is waiting
#
# Before that one run fills the caches (Maven's repository, ralph's class paths) and a second one says how
# long the gate takes; the reviewer takes that long unless --reviewer says otherwise. Prints the wall time
# of each run, the medians, and what the gate adds. Ends with 1 when a run did not tick every box, or when
# a verdict was not found where the way says.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
ralph=$root/target/release/ralph
rounds=3 reviewer= keep=

usage() { sed -n '2,/^set -/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
fail() { echo "FAILED: $*" >&2; exit 1; }

while (($#)); do
    case $1 in
    --ralph) ralph=$(realpath "${2:?}"); shift ;;
    --rounds) rounds=${2:?}; shift ;;
    --reviewer) reviewer=${2:?}; shift ;;
    --keep) keep=${2:?}; shift ;;
    *) usage ;;
    esac
    shift
done
if [[ ! -x $ralph ]]; then
    echo "No binary at $ralph: run \`cargo build --release\` first, or name one with --ralph." >&2
    exit 2
fi

scratch=$(mktemp -d "${TMPDIR:-/tmp}/ralph-ahead.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
export XDG_CACHE_HOME=$scratch/cache NO_COLOR=1
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=bench GIT_AUTHOR_EMAIL=bench@example.org
export GIT_COMMITTER_NAME=bench GIT_COMMITTER_EMAIL=bench@example.org
workspace=$scratch/workspace   # the same place each time: ralph's cache knows packages by their folder

java_sources() {
    mkdir -p "$scratch/java/src/main/java/org/example" "$scratch/java/src/test/java/org/example"
    cat >"$scratch/java/src/main/java/org/example/Roman.java" <<'JAVA'
package org.example;

/** Roman numerals from 1 to 3999. */
public final class Roman {
    private static final int[] VALUES = {1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1};
    private static final String[] SIGNS = {
        "M", "CM", "D", "CD", "C", "XC", "L", "XL", "X", "IX", "V", "IV", "I"
    };

    private Roman() {}

    public static String of(int number) {
        if (number < 1 || number > 3999) {
            throw new IllegalArgumentException("not from 1 to 3999: " + number);
        }
        StringBuilder text = new StringBuilder();
        int left = number;
        for (int i = 0; i < VALUES.length; i++) {
            while (left >= VALUES[i]) {
                text.append(SIGNS[i]);
                left -= VALUES[i];
            }
        }
        return text.toString();
    }

    public static int parse(String text) {
        int at = 0;
        int sum = 0;
        for (int i = 0; i < VALUES.length; i++) {
            while (text.startsWith(SIGNS[i], at)) {
                sum += VALUES[i];
                at += SIGNS[i].length();
            }
        }
        if (at != text.length() || sum == 0 || !of(sum).equals(text)) {
            throw new IllegalArgumentException("no numeral: " + text);
        }
        return sum;
    }
}
JAVA
    cat >"$scratch/java/src/test/java/org/example/RomanTest.java" <<'JAVA'
package org.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

class RomanTest {
    @Test
    void writes() {
        assertEquals("MCMXCIV", Roman.of(1994));
        assertEquals("MMMCMXCIX", Roman.of(3999));
        assertEquals("I", Roman.of(1));
        assertThrows(IllegalArgumentException.class, () -> Roman.of(0));
        assertThrows(IllegalArgumentException.class, () -> Roman.of(4000));
    }

    @Test
    void reads() {
        for (int number = 1; number <= 3999; number++) {
            assertEquals(number, Roman.parse(Roman.of(number)));
        }
        assertThrows(IllegalArgumentException.class, () -> Roman.parse("IIII"));
        assertThrows(IllegalArgumentException.class, () -> Roman.parse(""));
        assertThrows(IllegalArgumentException.class, () -> Roman.parse("X!"));
    }
}
JAVA
}

make_workspace() {   # with or without, ahead: true or false, seconds of the reviewer
    local gate=$1 ahead=$2 seconds=$3
    rm -rf "$workspace"
    mkdir -p "$workspace/.ralph" "$workspace/src/roman"
    cp "$root/.ralph-example/src/orders/pom.xml" "$workspace/src/roman/pom.xml"
    printf 'target/\n' >"$workspace/src/roman/.gitignore"
    git init --quiet --initial-branch main "$workspace/src/roman"
    git -C "$workspace/src/roman" add --all
    git -C "$workspace/src/roman" commit --quiet --message start
    {
        echo '- [ ] 1. Roman numerals'
        echo '- [ ] 1.REQ-CHECK Look'
        if [[ $gate == with ]]; then echo '- [ ] 1.PITEST Judge'; fi
    } >"$workspace/tasks.md"
    cat >"$workspace/.ralph/config.yaml" <<YAML
agents:
  default: {command: [sh, agent.sh]}
gates:
  PITEST: {ahead: $ahead}
YAML
    cat >"$workspace/agent.sh" <<SH
set -eu
cd "\$RALPH_WORKSPACE"
cat >/dev/null
case \$RALPH_STAGE in
REQ-CHECK) sleep $seconds; echo 'RALPH-VERDICT: PASS it took its time' ;;
*) cp -r "$scratch/java/src" src/roman/
   git -C src/roman add --all
   git -C src/roman commit --quiet --message 'Roman numerals' ;;
esac
SH
}

now() { date +%s%N; }
seconds() { awk -v nanos="$1" 'BEGIN { printf "%.2f", nanos / 1e9 }'; }
median() { sort -n | awk '{ all[NR] = $1 } END { print (NR % 2) ? all[(NR + 1) / 2] : int((all[NR / 2] + all[NR / 2 + 1]) / 2) }'; }
load() { cut -d' ' -f1-3 /proc/loadavg; }

measure() {   # without, in-turn or ahead; seconds of the reviewer; leaves the wall time in $wall, nanoseconds
    local way=$1 began ended used
    case $way in
    without) make_workspace without true "$2" ;;
    in-turn) make_workspace with false "$2" ;;
    ahead) make_workspace with true "$2" ;;
    esac
    began=$(now)
    "$ralph" --root "$workspace" run >"$scratch/$way.out" 2>"$scratch/$way.err" \
        || { cat "$scratch/$way.out" "$scratch/$way.err" >&2; fail "the run $way ended with $?"; }
    ended=$(now)
    wall=$((ended - began))
    if grep -q '\[ \]' "$workspace/tasks.md"; then fail "the run $way left a box open"; fi
    used=$(grep -c 'found ahead of need' "$workspace/progress.txt" || true)
    if [[ $way == ahead ]]; then [[ $used == 1 ]] || fail "no verdict was found ahead"; else [[ $used == 0 ]]; fi
    if [[ -n $keep ]]; then mkdir -p "$keep"; rm -rf "$keep/$way"; cp -r "$workspace" "$keep/$way"; fi
}

java_sources
echo "ralph: $("$ralph" --version)   processors: $(nproc)   load before: $(load)"
measure in-turn 0.1
measure without 0.1
base=$wall
measure in-turn 0.1
gate=$((wall - base))
reviewer=${reviewer:-$(seconds "$gate")}
echo "the gate takes $(seconds "$gate") s; the reviewer takes $reviewer s"
grep -h 'PITEST' "$scratch/in-turn.out"

: >"$scratch/walls"
for ((round = 1; round <= rounds; round++)); do
    for way in without in-turn ahead; do
        measure "$way" "$reviewer"
        echo "$way $wall" >>"$scratch/walls"
        printf 'round %d  %-8s %7s s   load %s\n' "$round" "$way" "$(seconds "$wall")" "$(load)"
    done
done

of() { awk -v way="$1" '$1 == way { print $2 }' "$scratch/walls" | median; }
without=$(of without)
for way in in-turn ahead; do
    middle=$(of "$way")
    awk -v way="$way" -v wall="$middle" -v without="$without" 'BEGIN {
        printf "%-8s median %7.2f s, the gate adds %6.2f s (%.1f %%) to %.2f s without it\n",
            way, wall / 1e9, (wall - without) / 1e9, 100 * (wall - without) / without, without / 1e9
    }'
done
