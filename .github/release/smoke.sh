#!/bin/sh
# Unpacks an archive and lets its program run the loop of the demo, with a command as gate. Needs sh, tar and git alone.
#   smoke.sh dist/ralph-loop-0.2.0-x86_64-unknown-linux-musl.tar.gz
set -eu
refuse() {
    echo "smoke: $1" >&2
    exit 1
}
archive=${1:?name an archive}
sums=sha256sum
command -v sha256sum > /dev/null 2>&1 || sums='shasum -a 256'
(cd "$(dirname "$archive")" && $sums -c "$(basename "$archive").sha256")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tar -xzf "$archive" -C "$work"
set -- "$work"/*/ralph
ralph=$1
"$ralph" --version

mkdir -p "$work/ws/.ralph" "$work/ws/src/app" "$work/home"
cd "$work/ws"
# Settings of this machine must not change the result.
export HOME="$work/home" GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
cat > tasks.md <<'END'
- [ ] 1. Greet
- [ ] 1.CHECK greeting
END
cat > .ralph/config.yaml <<'END'
agents:
  default: {command: [sh, agent.sh]}
gates:
  CHECK: {run: [sh, -c, 'grep -q "hello, world" greeting.txt']}
END
# The first attempt is wrong, and claims the gate's box. The second one repairs it.
cat > agent.sh <<'END'
set -eu
cat > /dev/null
cd "$RALPH_WORKSPACE"
if [ -f src/app/greeting.txt ]; then
    echo 'hello, world' > src/app/greeting.txt
else
    echo 'hello' > src/app/greeting.txt
    sed 's/\[ \] 1.CHECK/[x] 1.CHECK/' tasks.md > tasks.new
    mv tasks.new tasks.md
fi
git -C src/app add --all
git -C src/app commit --quiet --message "greet"
END
git -C src/app init --quiet
git -C src/app config user.name Smoke
git -C src/app config user.email smoke@example.org
git -C src/app commit --quiet --allow-empty --message start
"$ralph" run
grep -q '^- \[x\] 1\. Greet' tasks.md || refuse 'The task is not ticked.'
grep -q '^- \[x\] 1\.CHECK' tasks.md || refuse 'The gate is not ticked.'
grep -q 'CHECK FAIL' progress.txt || refuse 'The gate did not fail first.'
"$ralph" replay
echo "smoke: $(basename "$archive") works."
