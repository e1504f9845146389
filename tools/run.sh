#!/bin/sh
# Builds, records a trace on the spot and opens the page on it: prints the address and stays.
# MRD_PORT sets the port (0: a free one), MRD_OPEN=1 opens a browser.
. "$(dirname -- "$0")/env.sh"
sh tools/build.sh release
if [ ! -x build/meridian ]; then
    say "run: build/meridian was not built" >&2
    exit 1
fi
files=$(sh tools/record.sh)
if [ -z "$files" ]; then
    say "run: neither clang nor node recorded a trace; open one: build/meridian open FILE" >&2
    exit 1
fi
say "recorded:" $files
# Their clocks have nothing in common, so one is opened here; open the other the same way.
# shellcheck disable=SC2086
set -- $files
browser=--no-browser
[ "${MRD_OPEN:-0}" = 0 ] || browser=
# shellcheck disable=SC2086
exec build/meridian open --listen "127.0.0.1:${MRD_PORT:-0}" $browser "$1"
