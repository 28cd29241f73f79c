#!/bin/sh
# Installs ralph @VERSION@ for Linux and macOS into ~/.local/bin, or into RALPH_INSTALL_DIR. Needs no root.
#   curl -fsSL https://github.com/@REPOSITORY@/releases/download/v@VERSION@/install.sh | sh
# RALPH_DOWNLOAD names another place with the archives of this version, such as a mirror. This script holds their
# checksums, so the place need not be trusted.
set -eu

refuse() {
    echo "install: $1" >&2
    exit 1
}

has() { command -v "$1" > /dev/null 2>&1; }

fetch() {   # address, file
    if has curl; then
        curl -fsSL --retry 3 -o "$2" -- "$1"
    elif has wget; then
        wget -q -O "$2" -- "$1"
    else
        refuse 'curl or wget is needed.'
    fi
}

# All is in a function, so that half a script does nothing.
install() {
    platform="$(uname -s) $(uname -m)"
    case $platform in
    'Linux x86_64' | 'Linux amd64') target=x86_64-unknown-linux-musl checksum=@SHA256_LINUX_X86_64@ ;;
    'Linux aarch64' | 'Linux arm64') target=aarch64-unknown-linux-musl checksum=@SHA256_LINUX_AARCH64@ ;;
    'Darwin x86_64') target=x86_64-apple-darwin checksum=@SHA256_DARWIN_X86_64@ ;;
    'Darwin arm64') target=aarch64-apple-darwin checksum=@SHA256_DARWIN_AARCH64@ ;;
    *) refuse "There is no program for $platform. Build it: cargo install ralph-loop --locked" ;;
    esac
    if has sha256sum; then
        sums=sha256sum
    elif has shasum; then
        sums='shasum -a 256'
    else
        refuse 'sha256sum or shasum is needed.'
    fi
    name=ralph-loop-@VERSION@-$target
    from=${RALPH_DOWNLOAD:-https://github.com/@REPOSITORY@/releases/download/v@VERSION@}
    into=${RALPH_INSTALL_DIR:-${HOME:?}/.local/bin}
    mkdir -p "$into"
    scratch=$(mktemp -d "$into/.ralph-install.XXXXXX")
    trap 'rm -rf "$scratch"' EXIT
    trap 'exit 1' HUP INT TERM
    fetch "$from/$name.tar.gz" "$scratch/archive" || refuse "$from/$name.tar.gz cannot be fetched."
    echo "$checksum  $scratch/archive" | $sums -c > /dev/null 2>&1 \
        || refuse "The checksum of $from/$name.tar.gz differs. Nothing was installed."
    tar -xzf "$scratch/archive" -C "$scratch" "$name/ralph"
    "$scratch/$name/ralph" --version > /dev/null || refuse 'The program does not run here. Nothing was installed.'
    mv -f "$scratch/$name/ralph" "$into/ralph"
    echo "ralph @VERSION@ is in $into."
    case :$PATH: in
    *:"$into":*) ;;
    *) echo "$into is not on the PATH." ;;
    esac
}

install
