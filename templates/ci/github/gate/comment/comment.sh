#!/bin/sh
# Writes the result of a gate into one comment of its pull request, and replaces that comment at the next run.
# The pull request is found by the branch and commit of the event: a file of the first workflow could name another one.
set -eu
here=$(dirname "$0")
number=$(gh api --method GET "repos/$REPOSITORY/pulls" -f state=open -f "head=$HEAD_OWNER:$HEAD_BRANCH" \
    --jq ".[] | select(.head.sha == \"$HEAD_SHA\") | .number" | head -n 1)
if [ -z "$number" ]; then
    echo "No open pull request has the commit $HEAD_SHA."
    exit
fi
marker='<!-- ralph gate -->'
body=$(mktemp)
trap 'rm -f "$body"' EXIT
{
    echo "$marker"
    echo "**ralph gate: $CONCLUSION** for $HEAD_SHA ([run]($RUN_URL))"
    echo
    if [ -f "$RESULT" ] && [ ! -L "$RESULT" ]; then
        sh "$here/../summary.sh" < "$RESULT"
    else
        echo 'The gate left no result.'
    fi
} > "$body"
comment=$(gh api --paginate "repos/$REPOSITORY/issues/$number/comments" \
    --jq ".[] | select(.user.type == \"Bot\" and (.body | startswith(\"$marker\"))) | .id" | head -n 1)
if [ -n "$comment" ]; then
    gh api --method PATCH "repos/$REPOSITORY/issues/comments/$comment" -F "body=@$body" --silent
else
    gh api --method POST "repos/$REPOSITORY/issues/$number/comments" -F "body=@$body" --silent
fi
