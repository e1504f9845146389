#!/bin/sh
# Frames of an Android app: adb-gfxinfo.sh PACKAGE [SECONDS_BETWEEN]. A dump holds the last ~120
# frames: at 120 Hz one every half second misses none. Ends when adb fails, with adb's exit code.
if [ "${1:-}" = --dumps ]; then
    while adb shell dumpsys gfxinfo "$2" framestats </dev/null; do
        sleep "$3"
    done
    exit 1
fi
package=${1:?a package}
exec node "$(dirname -- "$0")/gfxinfo.mjs" -- sh "$0" --dumps "$package" "${2:-0.5}"
