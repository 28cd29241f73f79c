#!/bin/sh
# Posts an event of ralph to a Slack-compatible webhook (Slack, Mattermost, Rocket.Chat). In .ralph/config.yaml:
#
#   hooks:
#     blocked: [sh, .ralph/notify-slack.sh]
#     stop: [sh, .ralph/notify-slack.sh]
#     env: [CHAT_WEBHOOK]
#
# CHAT_WEBHOOK is the address. It is secret, so set it in the environment and not in a file of the repository.
set -eu
event=$(cat)
# A text field of the JSON, with its escapes; what is copied from JSON into JSON needs no other.
field() { printf '%s' "$event" | sed -n 's/.*"'"$1"'":"\(\([^"\\]\|\\.\)*\)".*/\1/p'; }
# The event and its task, if it has one.
title() { printf 'ralph %s %s' "$(field event)" "$(field task)" | sed 's/ *$//'; }
text="$(title): $(field why)"
text=$(printf '%s' "$text" | sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g')
printf '{"text":"%s"}' "$text" |
    curl --silent --show-error --fail --max-time 20 -H 'Content-Type: application/json' --data-binary @- "$CHAT_WEBHOOK"
