#!/bin/sh
# Mails an event of ralph with sendmail. In .ralph/config.yaml:
#
#   hooks:
#     blocked: [sh, .ralph/notify-mail.sh]
#     stop: [sh, .ralph/notify-mail.sh]
#     env: [MAIL_TO]
#
# MAIL_TO is the address. SENDMAIL, if it is in `env` too, is the program.
set -eu
event=$(cat)
field() { printf '%s' "$event" | sed -n 's/.*"'"$1"'":"\(\([^"\\]\|\\.\)*\)".*/\1/p'; }
# JSON's escapes as plain text: no control character can begin another header.
plain() { field "$1" | sed 's/\\[nrtbf]/ /g; s/\\u[0-9a-fA-F]\{4\}/?/g; s/\\\(.\)/\1/g'; }
# The event and its task, if it has one.
title() { printf 'ralph %s %s' "$(plain event)" "$(plain task)" | sed 's/ *$//'; }
printf 'To: %s\nSubject: %s\nContent-Type: text/plain; charset=utf-8\n\n%s\n' \
    "$MAIL_TO" "$(title)" "$(plain why)" |
    "${SENDMAIL:-sendmail}" -i -t
