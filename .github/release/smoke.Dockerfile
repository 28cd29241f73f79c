# What the smoke test needs next to the archive: a shell, tar, and git for the scripted agent.
FROM alpine:3.22
RUN apk add --no-cache git
