#!/bin/sh
# Lets every file system call fail once: tests/faults/run on the release build. Then the same of
# sessions, with every other fault of theirs, in the counts of docs/session-faults.md.
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
MRD_SESSION_FAULTS=big
MRD_TEST_TIMEOUT=3600
export MRD_SESSION_FAULTS MRD_TEST_TIMEOUT
for name in damage damage_open failing power kills recording case18; do
    sh tools/run-unit.sh "faults/session_$name" "build/release/tests/session_test_$name"
done >>build/log/faults.log 2>&1
cat build/log/faults.log
awk -f tools/sum.awk build/log/faults.log
