#!/bin/sh
# Makes docs/examples/demo.tar anew: the run of `ralph demo` with this version, without what its gates left; and its report.
# For when the demo itself changes. The file is a journal of an earlier version, kept to be replayed by later ones.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
ralph=$here/../../target/debug/ralph
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$ralph" demo --into "$folder/demo"
rm -rf "$folder"/demo/.ralph/state/iter-*/gate
rm -f "$here/demo.tar"
cd "$folder/demo" && "$ralph" bundle "$here/demo.tar"
# The page shows local time, so the zone is fixed.
cd "$here" && export TZ=Asia/Kolkata && for page in demo.md demo.html; do "$ralph" report --bundle demo.tar --output "$page"; done
