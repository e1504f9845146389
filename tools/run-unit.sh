#!/bin/sh
# Runs one test program and prints its tests in the common form (PASS/FAIL/SKIP lines).
# usage: tools/run-unit.sh NAME PROGRAM [ARGUMENT...]
# A program that crashes, hangs or is not there counts as one failed test of its own.
name=$1
shift
if [ ! -x "$1" ]; then
    echo "FAIL $name: $1 was not built"
    exit 1
fi
out=$(mktemp) || exit 1
trap 'rm -f "$out"' EXIT
CMOCKA_MESSAGE_OUTPUT=STDOUT timeout "${MRD_TEST_TIMEOUT:-300}" "$@" >"$out" 2>&1
code=$?
awk -v name="$name" -v code="$code" -v program="$1" '
    /^\[  ERROR   \] --- / { why = substr($0, 18) }
    /^\[   LINE   \] --- / { at = $5; sub(/.*\//, "", at); sub(/:$/, "", at); place = " (" at ")" }
    /^\[ RUN      \]/ { why = place = "" }
    /^\[       OK \] / { print "PASS " name ": " $4; passed++; next }
    /^\[  FAILED  \] [A-Za-z_]/ && !/test\(s\)/ {
        if (!($4 in seen)) { print "FAIL " name ": " $4 ": " why place; failed++ }
        seen[$4] = 1
        next
    }
    /^\[  SKIPPED \] [A-Za-z_]/ && !/test\(s\)/ {
        if (!($4 in seen)) { print "SKIP " name ": " $4; skipped++ }
        seen[$4] = 1
        next
    }
    /^PASS / { passed++ }
    /^FAIL / { failed++ }
    /^SKIP / { skipped++ }
    /^\[( RUN      |==========|  PASSED  )\]/ { next }
    { print }
    END {
        if (code == 124) print "FAIL " name ": ran out of time"
        else if (code && !failed) print "FAIL " name ": " program " ended with " code
        else if (!passed && !failed && !skipped) { print "FAIL " name ": no test ran"; exit 1 }
        exit code || failed
    }' "$out"
