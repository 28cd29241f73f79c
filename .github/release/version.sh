#!/bin/sh
# Prints the version of the Cargo.toml in this directory.
set -eu
sed -n '/^\[package\]/,/^\[[^p]/s/^version = "\(.*\)"$/\1/p' Cargo.toml
