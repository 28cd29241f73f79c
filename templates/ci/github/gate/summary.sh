#!/bin/sh
# Turns the annotations of a gate on standard input into a Markdown block of at most 100 lines. The text is hostile: a pull
# request chooses the names in it. In a block it is no markup, and a backquote cannot end the block.
set -eu
echo '```text'
head -c 60000 | tr -d '\000-\011\013-\037\177' | tr '`' "'" | sed -n \
    -e 's/^::[a-z]* file=\([^,]*\),line=\([0-9]*\),title=\([^:]*\)::/\1:\2: \3: /' \
    -e 's/^::[a-z]* title=\([^:]*\)::/\1: /' \
    -e 's/%0A/\n    /g' -e 's/%0D//g' -e 's/%3A/:/g' -e 's/%2C/,/g' -e 's/%25/%/g' -e p \
    | cut -c 1-300 | head -n 100 | iconv -c -f UTF-8 -t UTF-8
echo '```'
