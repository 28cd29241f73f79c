#!/bin/sh
# Packs a program into dist/ as an archive with its checksum. Run it in the repository's root.
# The same files give the same bytes. Cargo.toml names the archive for `cargo binstall`; the words `linux`, `darwin`,
# `x86_64` and `aarch64` in the name let mise and aqua choose it. A Mac needs GNU tar, there called gtar.
#   package.sh x86_64-unknown-linux-musl target/x86_64-unknown-linux-musl/release/ralph
set -eu
target=${1:?name a target}
program=${2:?name the program}
version=$("$(dirname "$0")/version.sh")
name=ralph-loop-$version-$target
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
has() { command -v "$1" > /dev/null 2>&1; }
tar=tar sums=sha256sum
if has gtar; then tar=gtar; fi
if ! has sha256sum; then sums='shasum -a 256'; fi
mkdir -p dist "$scratch/$name/templates"
cp "$program" "$scratch/$name/ralph"
cp README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT "$scratch/$name"
cp -R templates/ci templates/hooks templates/claude-plugin templates/opencode "$scratch/$name/templates"
chmod -R u=rwX,go=rX "$scratch/$name"
chmod 755 "$scratch/$name/ralph"
$tar --create --sort=name --owner=0 --group=0 --numeric-owner --mtime="@${SOURCE_DATE_EPOCH:-0}" \
    --directory "$scratch" "$name" | gzip -n > "dist/$name.tar.gz"
(cd dist && $sums "$name.tar.gz" > "$name.tar.gz.sha256")
echo "dist/$name.tar.gz"
