#!/bin/sh
# Makes the other files of a release in dist/ from its archives: the installer, the npm packages, and the entry for the MCP
# registry. Run it in the repository's root. The address is that of the repository that releases, so no file names it before.
#   assemble.sh OWNER/REPOSITORY
set -eu
repository=${1:?name OWNER/REPOSITORY}
here=$(cd "$(dirname "$0")" && pwd)
owner=${repository%%/*}
scope=@${NPM_SCOPE:-$(echo "$owner" | tr '[:upper:]' '[:lower:]')}
version=$("$(dirname "$0")/version.sh")
case $repository in
*[!A-Za-z0-9._/-]* | */*/* | /* | */) is_address=false ;;
*/*) is_address=true ;;
*) is_address=false ;;
esac
if [ "$is_address" = false ]; then
    echo "release: $repository is not OWNER/REPOSITORY." >&2
    exit 1
fi

checksum_of() {   # target
    cut -d' ' -f1 "dist/ralph-loop-$version-$1.tar.gz.sha256"
}
x86_64=$(checksum_of x86_64-unknown-linux-musl)
aarch64=$(checksum_of aarch64-unknown-linux-musl)

stamp() {   # standard input to standard output
    sed -e "s|@VERSION@|$version|g" -e "s|@REPOSITORY@|$repository|g" -e "s|@OWNER@|$owner|g" -e "s|@SCOPE@|$scope|g" \
        -e "s|@SHA256_X86_64@|$x86_64|g" -e "s|@SHA256_AARCH64@|$aarch64|g"
}

stamp < "$here/install.sh" > dist/install.sh
stamp < "$here/server.json" > dist/server.json

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
pack() {   # folder
    cp README.md LICENSE-APACHE LICENSE-MIT "$1"
    npm pack --silent --pack-destination dist "$1"
}
for pair in x86_64:x64 aarch64:arm64; do
    name=ralph-loop-$version-${pair%:*}-unknown-linux-musl
    folder=$scratch/${pair#*:}
    mkdir "$folder"
    tar -xzf "dist/$name.tar.gz" -C "$folder" --strip-components=1 "$name/ralph"
    sed "s|@CPU@|${pair#*:}|g" "$here/npm/platform.json" | stamp > "$folder/package.json"
    pack "$folder"
done
mkdir "$scratch/wrapper"
stamp < "$here/npm/ralph" > "$scratch/wrapper/ralph"
chmod 755 "$scratch/wrapper/ralph"
stamp < "$here/npm/package.json" > "$scratch/wrapper/package.json"
pack "$scratch/wrapper"
