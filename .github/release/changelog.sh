#!/bin/sh
# Prints the changelog's section of a tag, which is the text of the release. Run it in the repository's root.
# Refuses a tag that Cargo.toml does not have as its version, and a version without entries in CHANGELOG.md.
#   changelog.sh v0.2.0
set -eu
refuse() {
    echo "release: $1" >&2
    exit 1
}
tag=${1:?name a tag such as v0.2.0}
version=${tag#v}
declared=$("$(dirname "$0")/version.sh")
[ "$tag" = "v$declared" ] || refuse "The tag is $tag, and Cargo.toml has the version $declared."
section=$(awk -v heading="## [$version]" '/^## / { inside = (index($0, heading) == 1); next } inside' CHANGELOG.md)
printf '%s\n' "$section" | grep -q '^- ' || refuse "CHANGELOG.md has no entries below \"## [$version]\"."
printf '%s\n' "$section"
