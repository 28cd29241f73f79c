#!/usr/bin/env bash
# One workspace in four languages: a Java, a Python, a TypeScript and a Rust package, a task for each, one `ralph run`.
#
#   benches/polyglot.sh [--ralph PATH] [--into DIR] [--files N]
#
#   --ralph PATH   the binary (default target/release/ralph)
#   --into DIR     a new folder for the workspace (default: a temporary one, removed at the end)
#   --files N      files with a test in each package beside the one that the task adds (default 12)
#
# The agent is a script: its first test of each task asserts nothing, so gate MUTATION must FAIL; told so, it asserts, and
# the gate must PASS. The engines are real: PIT, mutmut, StrykerJS, cargo-mutants. Then each engine runs alone over its whole
# package, as its own manual says. Printed are the verdicts, their seconds, and the seconds of the PASS as a part of those of
# the engine's own run. The engines are installed into target/tmp, as the tests do.
#
# The exit code is 0 if the run ended with every box ticked and each language had FAIL, then PASS.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
ralph=$root/target/release/ralph
into='' files=12
usage() { sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" >&2; exit 2; }
while (($#)); do
    case $1 in
    --ralph) ralph=$(realpath "${2:?}"); shift ;;
    --into) into=${2:?}; shift ;;
    --files) files=${2:?}; shift ;;
    *) usage ;;
    esac
    shift
done
for program in "$ralph" git mvn java python3 node npm cargo; do
    command -v "$program" >/dev/null || { echo "polyglot.sh: $program is missing" >&2; exit 2; }
done
if [[ -z $into ]]; then
    into=$(mktemp -d)
    trap 'rm -rf "$into"' EXIT
fi
mkdir -p "$into"
into=$(realpath "$into")
ws=$into/workspace
[[ ! -e $ws ]] || { echo "polyglot.sh: $ws is there already; name a new folder" >&2; exit 2; }

# ------------------------------------------------------------------------------------------------------ the engines
tools=$root/target/tmp
venv=$tools/python-mutmut-3.8.1 node=$tools/node-stryker-9.6.1 mutants=$tools/cargo-mutants-27.1.0
if [[ ! -e $venv/bin/mutmut ]]; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet mutmut==3.8.1 pytest==8.4.2
fi
if [[ ! -e $node/node_modules/.package-lock.json ]]; then
    mkdir -p "$node"
    echo '{}' >"$node/package.json"
    (cd "$node" && npm install --no-audit --no-fund @stryker-mutator/{core,vitest-runner}@9.6.1 vitest@3.2.4)
fi
if [[ ! -x $mutants/bin/cargo-mutants ]]; then
    cargo install cargo-mutants@27.1.0 --locked --debug --quiet --root "$mutants"
fi
export PATH=$mutants/bin:$PATH

# ----------------------------------------------------------------------------------------------- the four languages
export GIT_AUTHOR_NAME=Agent GIT_AUTHOR_EMAIL=agent@example.org GIT_COMMITTER_NAME=Agent GIT_COMMITTER_EMAIL=agent@example.org
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
languages=(java python typescript rust)

# Both the script and its agent write code: `write LANGUAGE NAME strong|weak`, in the workspace.
mkdir -p "$ws/.ralph"
cat >"$ws/write.sh" <<'SH'
put() { mkdir -p "$(dirname "$1")"; cat >"$1"; }
write() {
    local name=$2 same=same
    if [ "$3" = weak ]; then same=ignore; fi
    case $1 in
    java)
        put "src/java/src/main/java/shop/$name.java" <<END
package shop;
public final class $name {
    private $name() {}
    public static int plus(int a, int b) { return a + b; }
    public static boolean high(int a) { return a > 1000; }
}
END
        put "src/java/src/test/java/shop/${name}Test.java" <<END
package shop;
import org.junit.jupiter.api.*;
class ${name}Test {
    @Test void sums() { $same(5, $name.plus(2, 3)); $same(false, $name.high(1000)); $same(true, $name.high(1001)); }
    static void same(Object a, Object b) { Assertions.assertEquals(a, b); }
    static void ignore(Object a, Object b) {}
}
END
        ;;
    python)
        put "src/python/src/shop/$name.py" <<END
def plus(a, b):
    return a + b


def high(a):
    return a > 1000
END
        put "src/python/tests/test_$name.py" <<END
from shop.$name import high, plus


def same(a, b):
    assert a == b


def ignore(a, b):
    pass


def test_sums():
    $same(5, plus(2, 3))
    $same(False, high(1000))
    $same(True, high(1001))
END
        ;;
    typescript)
        put "src/typescript/src/$name.ts" <<END
export function plus(a: number, b: number): number {
  return a + b;
}
export function high(a: number): boolean {
  return a > 1000;
}
END
        put "src/typescript/test/$name.test.ts" <<END
import { expect, test } from 'vitest';
import { high, plus } from '../src/$name';
const same = (a: unknown, b: unknown) => expect(b).toBe(a);
const ignore = (a: unknown, b: unknown) => {};
test('sums', () => { $same(5, plus(2, 3)); $same(false, high(1000)); $same(true, high(1001)); });
END
        ;;
    rust)
        put "src/rust/src/$name.rs" <<END
pub fn plus(a: i64, b: i64) -> i64 {
    a + b
}
pub fn high(a: i64) -> bool {
    a > 1000
}
#[cfg(test)]
mod tests {
    use super::*;
    fn same<T: PartialEq + std::fmt::Debug>(a: T, b: T) {
        assert_eq!(a, b);
    }
    fn ignore<T>(_: T, _: T) {}
    #[test]
    fn sums() {
        $same(5, plus(2, 3));
        $same(false, high(1000));
        $same(true, high(1001));
        same(1, 1);
        ignore(1, 1);
    }
}
END
        grep -qs "mod $name;" src/rust/src/lib.rs || echo "pub mod $name;" >>src/rust/src/lib.rs
        ;;
    esac
}
SH
cat >"$ws/agent.sh" <<'SH'
# A scripted stand-in for a coding agent: told of a FAIL, it asserts.
set -eu
cat >/dev/null
cd "$RALPH_WORKSPACE"
. ./write.sh
case $RALPH_TASK in
1.*) language=java name=Price ;;
2.*) language=python name=price ;;
3.*) language=typescript name=price ;;
*) language=rust name=price ;;
esac
# Its own first try is there.
kind=weak
if git -C "src/$language" ls-files | grep -qi 'price'; then kind=strong; fi
write "$language" "$name" "$kind"
git -C "src/$language" add --all
git -C "src/$language" commit --quiet --message "price: $kind tests"
SH

cd "$ws"
# shellcheck source=/dev/null
. ./write.sh
for language in "${languages[@]}"; do
    for ((number = 1; number <= files; number++)); do
        case $language in java) write java "Rule$number" strong ;; *) write "$language" "rule$number" strong ;; esac
    done
done
plugin() { echo "<plugin><artifactId>maven-$1-plugin</artifactId><version>$2</version></plugin>"; }
put src/java/pom.xml <<END
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>shop</groupId><artifactId>shop</artifactId><version>1</version>
<properties><maven.compiler.release>17</maven.compiler.release><project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties>
<dependencies><dependency><groupId>org.junit.jupiter</groupId><artifactId>junit-jupiter</artifactId><version>5.10.2</version><scope>test</scope></dependency></dependencies>
<build><plugins>$(plugin resources 3.3.1)$(plugin compiler 3.13.0)$(plugin surefire 3.2.5)
<plugin><groupId>org.pitest</groupId><artifactId>pitest-maven</artifactId><version>1.25.9</version>
<dependencies><dependency><groupId>org.pitest</groupId><artifactId>pitest-junit5-plugin</artifactId><version>1.2.3</version></dependency></dependencies></plugin>
</plugins></build></project>
END
put src/python/pyproject.toml <<'END'
[tool.pytest.ini_options]
pythonpath = ["src"]
[tool.mutmut]
source_paths = ["src"]
also_copy = ["tests"]
END
: >src/python/src/shop/__init__.py
put src/typescript/package.json <<<'{"name": "shop", "type": "module", "devDependencies": {"vitest": "3"}}'
put src/typescript/stryker.config.json <<<'{"testRunner": "vitest", "mutate": ["src/**/*.ts"], "reporters": ["json"]}'
put src/rust/Cargo.toml <<<$'[package]\nname = "shop"\nedition = "2024"\n[workspace]'
put tasks.md <<'END'
- [ ] 1. Price in Java
- [ ] 1.MUTATION
- [ ] 2. Price in Python
- [ ] 2.MUTATION
- [ ] 3. Price in TypeScript
- [ ] 3.MUTATION
- [ ] 4. Price in Rust
- [ ] 4.MUTATION
END
put .ralph/config.yaml <<'END'
agents:
  default: {command: [sh, agent.sh]}
gates:
  MUTATION: {threshold: 90, limit: 10m}
END
for language in "${languages[@]}"; do
    printf '%s\n' target/ node_modules .venv mutants/ mutants.out/ reports/ .stryker-tmp/ Cargo.lock >"src/$language/.gitignore"
    git -C "src/$language" init --quiet --initial-branch main
    git -C "src/$language" add --all
    git -C "src/$language" commit --quiet --message start
done
ln -s "$venv" src/python/.venv
ln -s "$node/node_modules" src/typescript/node_modules

# ---------------------------------------------------------------------------------------------------------- the run
"$ralph" run || { echo "polyglot.sh: ralph run did not tick every box" >&2; exit 1; }

whole() {   # language: the engine's own run over the whole package, in a plain clone
    local begin clone=$into/whole/$1 code=0
    mkdir -p "$into/whole"
    git clone --quiet "$ws/src/$1" "$clone"
    cd "$clone"
    begin=$(date +%s%N)
    case $1 in
    java) mvn -q -B test-compile org.pitest:pitest-maven:1.25.9:mutationCoverage -DoutputFormats=XML ;;
    python) ln -s "$venv" .venv; .venv/bin/python -m mutmut run ;;
    typescript) ln -s "$node/node_modules" node_modules; node_modules/.bin/stryker run ;;
    rust) cargo mutants ;;
    esac >"$clone.log" 2>&1 </dev/null || code=$?
    ((code == 0)) || { echo "polyglot.sh: the engine's own run of $1 ended with $code, see below" >&2; tail -n 5 "$clone.log" >&2; }
    echo "$1 $(($(date +%s%N) - begin)) $code"
}
for language in "${languages[@]}"; do whole "$language"; done >"$into/whole.txt"

python3 - "$ws/.ralph/state/journal.jsonl" "$into/whole.txt" "$files" <<'PY'
import json, sys
events = [json.loads(line)["r"]["e"] for line in open(sys.argv[1])]
reports = [event["report"] for event in events if event["kind"] == "gate-ended"]
engines = {"java": "PIT", "python": "mutmut", "typescript": "StrykerJS", "rust": "cargo-mutants"}
whole = [line.split() for line in open(sys.argv[2])]
good = len(reports) == 2 * len(whole)
print(f"| engine | FAIL | s | PASS | s | whole package ({int(sys.argv[3]) + 1} files), s | ratio |\n|---|---|---|---|---|---|---|")
for (language, spent, code), weak, strong in zip(whole, reports[::2], reports[1::2]):
    shown = [f"{report['coverage']['killed']}/{report['coverage']['total']} | {report['millis'] / 1000:.1f}" for report in (weak, strong)]
    alone = int(spent) / 1e9
    good = good and (weak["verdict"], strong["verdict"], code) == ("fail", "pass", "0")
    print(f"| {engines[language]} | {shown[0]} | {shown[1]} | {alone:.1f} | {strong['millis'] / 1000 / alone:.2f} |")
sys.exit(0 if good else "polyglot.sh: not every language had FAIL, then PASS, and a whole run without a survivor")
PY
