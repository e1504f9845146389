#!/bin/sh
# Builds the release preset and runs bench/run.sh with the same arguments.
. "$(dirname -- "$0")/env.sh"
if [ ! -f bench/run.sh ]; then
    say "bench: bench/run.sh is absent" >&2
    exit 1
fi
sh tools/build.sh release
exec sh bench/run.sh "$@"
