#!/bin/sh
# Lets every file system call fail once: tests/faults/run on the release build.
. "$(dirname -- "$0")/env.sh"
if [ ! -e tests/faults/run ]; then
    say "faults: tests/faults/run is absent" >&2
    exit 1
fi
sh tools/build.sh release
mkdir -p build/log
MERIDIAN=$top/build/meridian tests/faults/run >build/log/faults.log 2>&1 ||
    grep -q '^FAIL ' build/log/faults.log ||
    echo "FAIL faults: ended badly" >>build/log/faults.log
cat build/log/faults.log
awk -f tools/sum.awk build/log/faults.log
