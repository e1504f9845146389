#!/bin/sh
# Every test on the release build (its assertions are on). The last line is the sum:
# `N passed, M failed`, with `, K skipped` where something was.
. "$(dirname -- "$0")/env.sh"
mkdir -p build/log
out=build/log/test.log
: >"$out"
sh tools/setup.sh test || echo "FAIL setup: see above" | tee -a "$out"
sh tools/build.sh release || echo "FAIL build: release does not build" | tee -a "$out"
sh tools/suites.sh release unit golden lint web interop page 2>&1 | tee -a "$out"
echo
awk -f tools/sum.awk "$out"
