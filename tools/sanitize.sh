#!/bin/sh
# Unit and golden tests under the sanitizers: tools/sanitize.sh PRESET... (asan, tsan).
. "$(dirname -- "$0")/env.sh"
mkdir -p build/log
out=build/log/sanitize.log
: >"$out"
export ASAN_OPTIONS="${ASAN_OPTIONS:-detect_stack_use_after_return=1:strict_string_checks=1}"
export UBSAN_OPTIONS="${UBSAN_OPTIONS:-print_stacktrace=1}"
# DuckDB's library is not instrumented: reports that concern it alone are no finding of ours, and
# a suppression by library name would hide races in our callbacks.
export TSAN_OPTIONS="${TSAN_OPTIONS:-ignore_noninstrumented_modules=1}"
# The thread sanitizer makes programs of many threads up to fifty times slower.
export MRD_TEST_TIMEOUT="${MRD_TEST_TIMEOUT:-1200}"
[ "$#" -gt 0 ] || set -- asan tsan
for preset in "$@"; do
    echo "== $preset"
    sh tools/build.sh "$preset" || echo "FAIL build: $preset does not build" | tee -a "$out"
    sh tools/suites.sh "$preset" unit golden >"build/log/sanitize-$preset.log" 2>&1
    sed "s/^\( *[0-9]*: \)\{0,1\}\(PASS\|FAIL\|SKIP\) /\2 $preset\//" \
        "build/log/sanitize-$preset.log" | tee -a "$out"
done
awk -f tools/sum.awk "$out"
