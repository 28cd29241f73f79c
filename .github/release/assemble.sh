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
linux_x86_64=$(checksum_of x86_64-unknown-linux-musl)
linux_aarch64=$(checksum_of aarch64-unknown-linux-musl)
darwin_x86_64=$(checksum_of x86_64-apple-darwin)
darwin_aarch64=$(checksum_of aarch64-apple-darwin)

stamp() {   # standard input to standard output
    sed -e "s|@VERSION@|$version|g" -e "s|@REPOSITORY@|$repository|g" -e "s|@OWNER@|$owner|g" -e "s|@SCOPE@|$scope|g" \
        -e "s|@SHA256_LINUX_X86_64@|$linux_x86_64|g" -e "s|@SHA256_LINUX_AARCH64@|$linux_aarch64|g" \
        -e "s|@SHA256_DARWIN_X86_64@|$darwin_x86_64|g" -e "s|@SHA256_DARWIN_AARCH64@|$darwin_aarch64|g"
}

stamp < "$here/install.sh" > dist/install.sh
stamp < "$here/server.json" > dist/server.json

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
pack() {   # folder
    cp README.md LICENSE-APACHE LICENSE-MIT "$1"
    npm pack --silent --pack-destination dist "$1"
}
pack_program() {   # target, npm's name of the system, npm's name of the processor
    name=ralph-loop-$version-$1
    folder=$scratch/$2-$3
    mkdir "$folder"
    tar -xzf "dist/$name.tar.gz" -C "$folder" --strip-components=1 "$name/ralph"
    sed -e "s|@OS@|$2|g" -e "s|@CPU@|$3|g" "$here/npm/platform.json" | stamp > "$folder/package.json"
    pack "$folder"
}
pack_program x86_64-unknown-linux-musl linux x64
pack_program aarch64-unknown-linux-musl linux arm64
pack_program x86_64-apple-darwin darwin x64
pack_program aarch64-apple-darwin darwin arm64
mkdir "$scratch/wrapper"
stamp < "$here/npm/ralph" > "$scratch/wrapper/ralph"
chmod 755 "$scratch/wrapper/ralph"
stamp < "$here/npm/package.json" > "$scratch/wrapper/package.json"
pack "$scratch/wrapper"
