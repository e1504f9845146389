#!/bin/sh
# Runs suites on one preset's build and prints their lines (PASS, FAIL, SKIP; see tools/sum.awk):
# tools/suites.sh PRESET SUITE... with suites unit golden lint web page interop.
# A suite that ends badly without a FAIL line of its own gets one here. Always exits 0: the sum of
# the lines decides.
. "$(dirname -- "$0")/env.sh"
preset=${1:?a preset}
shift
program=build/$preset/meridian
[ "$preset" != release ] || program=build/meridian
MERIDIAN=$top/$program
MRD_PRESET=$preset
export MERIDIAN MRD_PRESET
mkdir -p build/log
# Nothing opens warm from an earlier run, and nothing is left in the user's own cache.
XDG_CACHE_HOME=$top/build/cache-of-tests
rm -rf "$XDG_CACHE_HOME"
export XDG_CACHE_HOME
ctest_chatter="^(test [0-9]+|  *Start +[0-9]+:|$)"
ctest_chatter="$ctest_chatter|^(UpdateCTest|Constructing a|Checking test|Test project)"
ctest_chatter="$ctest_chatter|^Internal ctest"
ctest_chatter="$ctest_chatter|^(Done constructing|Updating test|Added [0-9]+ tests)"
ctest_chatter="$ctest_chatter|^[0-9]+: (Test command|Working Directory|Test timeout|$)"

# guarded NAME COMMAND...: shows the output; adds a FAIL line when the command failed silently.
guarded() {
    name=$1
    shift
    log=build/log/$preset-$name.log
    code=0
    "$@" >"$log" 2>&1 || code=$?
    grep -vE "$ctest_chatter" "$log" || true
    if [ "$code" != 0 ] && ! grep -qE '^( *[0-9]+: )?FAIL ' "$log"; then
        echo "FAIL $name: ended with $code, see $log"
    fi
}

unit() {
    guarded unit ctest --test-dir "build/$preset" -j "$jobs" -V --no-tests=ignore
}

golden() {
    [ -e tests/golden/run ] || return 0
    if [ ! -x "$program" ]; then
        echo "FAIL golden: $program was not built"
        return 0
    fi
    guarded golden tests/golden/run
}

lint() {
    guarded lint sh tests/lint/run.sh
}

web() {
    [ -f web/package.json ] || return 0
    guarded web npm --prefix web test --silent
}

page() {
    [ -e tests/web/run ] || return 0
    guarded page tests/web/run
}

interop() {
    [ -e tests/interop/run ] || return 0
    guarded interop tests/interop/run
}

for suite in "$@"; do
    case $suite in
    unit | golden | lint | web | page | interop) $suite ;;
    *) echo "FAIL $suite: there is no such suite" ;;
    esac
done
