#!/bin/sh
# Sends an event of ralph to a phone by ntfy (https://ntfy.sh or a server of your own). In .ralph/config.yaml:
#
#   hooks:
#     blocked: [sh, .ralph/notify-ntfy.sh]
#     stop: [sh, .ralph/notify-ntfy.sh]
#     env: [NTFY_URL, NTFY_TOPIC]
#
# NTFY_URL is the server, NTFY_TOPIC the topic. Anyone who knows the topic can read it.
set -eu
event=$(cat)
# A text field of the JSON, with its escapes; what is copied from JSON into JSON needs no other.
field() { printf '%s' "$event" | sed -n 's/.*"'"$1"'":"\(\([^"\\]\|\\.\)*\)".*/\1/p'; }
# The event and its task, if it has one.
title() { printf 'ralph %s %s' "$(field event)" "$(field task)" | sed 's/ *$//'; }
printf '{"topic":"%s","title":"%s","message":"%s"}' "$NTFY_TOPIC" "$(title)" "$(field why)" |
    curl --silent --show-error --fail --max-time 20 -H 'Content-Type: application/json' --data-binary @- "$NTFY_URL"
