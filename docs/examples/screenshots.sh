#!/bin/sh
# Takes four screenshots of a report page: 1280 and 400 px wide, light and dark, with all histories unfolded.
# Fails if the page is wider than the window.
#
#   docs/examples/screenshots.sh [PAGE [DIRECTORY]]
#
# PAGE is docs/examples/demo.html by default, DIRECTORY is target/screenshots. Needs Chromium or Chrome.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
page=${1:-$here/demo.html}
into=${2:-$here/../../target/screenshots}
browser=
for name in "${CHROMIUM:-}" chromium chromium-browser google-chrome; do
    if [ -n "$name" ] && command -v "$name" >/dev/null; then browser=$name && break; fi
done
if [ -z "$browser" ]; then
    echo "skipped: no Chromium is installed (set CHROMIUM to its path)"
    exit 0
fi
mkdir -p "$into"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The page itself runs no script. This copy does, to report its size to a frame: a window has at least 500 px.
sed -e 's/<details/<details open/; /Content-Security-Policy/d' "$page" >"$work/page.html"
cat >>"$work/page.html" <<'SCRIPT'
<script>
const root = document.documentElement;
parent.postMessage(root.scrollWidth + "x" + root.scrollHeight, "*");
</script>
SCRIPT
frame() { # width
    cat <<FRAME
<title></title><iframe src="page.html" width="$1" height="1000" style="border:0"></iframe>
<script>onmessage = (message) => { document.title = message.data; };</script>
FRAME
}

chromium() { # file, arguments of Chromium
    file=$1
    shift
    timeout 120 "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars \
        --user-data-dir="$work/profile" "$@" "file://$work/$file" 2>"$work/log"
}

for width in 1280 400; do
    frame "$width" >"$work/frame.html"
    size=$(chromium frame.html --window-size=1400,1000 --dump-dom | sed -n 's/.*<title>\([0-9]*x[0-9]*\)<.*/\1/p')
    if [ -z "$size" ]; then
        echo "Chromium did not show the page:" >&2
        cat "$work/log" >&2
        exit 1
    fi
    if [ "${size%x*}" -gt "$width" ]; then
        echo "The page is ${size%x*} px wide in a window of $width px." >&2
        exit 1
    fi
    for scheme in dark light; do
        # Blink counts the schemes: 0 is dark, 1 is light.
        number=$([ "$scheme" = dark ] && echo 0 || echo 1)
        chromium page.html --window-size="$width,${size#*x}" --blink-settings="preferredColorScheme=$number" \
            --screenshot="$into/$width-$scheme.png"
        echo "$into/$width-$scheme.png"
    done
done
