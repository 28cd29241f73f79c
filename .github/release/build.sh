#!/bin/sh
# Builds the program for a target, and prints its path. Zig is the C compiler and linker of every target, so one machine
# can build all. A Mac builds for macOS with Apple's own tools. Run it in the repository's root. Needs rustup, and Python 3
# for Zig.
#   build.sh aarch64-unknown-linux-musl [PROFILE]
set -eu
target=${1:?name a target such as x86_64-unknown-linux-musl}
profile=${2:-release}
output=${CARGO_TARGET_DIR:-target}
tools=$output/zigbuild
with_apples_tools() {
    case $target in *-apple-darwin) [ "$(uname -s)" = Darwin ] ;; *) false ;; esac
}
with_zig() {
    [ -x "$tools/bin/cargo-zigbuild" ] || python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet cargo-zigbuild==0.24.1 ziglang==0.17.1
    PATH=$(cd "$tools/bin" && pwd):$PATH cargo zigbuild "$@"
}
{
    rustup target add "$target"
    set -- --locked --bin ralph --target "$target" --profile "$profile"
    if with_apples_tools; then cargo build "$@"; else with_zig "$@"; fi
} >&2
[ "$profile" != dev ] || profile=debug
echo "$output/$target/$profile/ralph"
