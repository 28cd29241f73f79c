#!/bin/sh
# Inserts the addresses of the repository that releases into Cargo.toml, before `cargo publish`. Run it in the root.
#   crate.sh OWNER/REPOSITORY
set -eu
repository=https://github.com/${1:?name OWNER/REPOSITORY}
version=$("$(dirname "$0")/version.sh")
sed -i "/^readme = /a\\
repository = \"$repository\"\\
documentation = \"$repository/blob/v$version/docs/introduction.md\"" Cargo.toml
grep -q "^repository = \"$repository\"$" Cargo.toml
