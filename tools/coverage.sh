#!/bin/sh
# Lines of src/ that unit and golden tests reach (clang, llvm-cov): a table on stdout.
. "$(dirname -- "$0")/env.sh"
profdata=$(command -v llvm-profdata || command -v llvm-profdata-14) || {
    say "coverage: llvm-profdata is missing (Debian package llvm-14)" >&2
    exit 1
}
cov=$(command -v llvm-cov || command -v llvm-cov-14)
sh tools/build.sh coverage
rm -rf build/coverage/profiles
mkdir -p build/coverage/profiles
export LLVM_PROFILE_FILE="$top/build/coverage/profiles/%p.profraw"
sh tools/suites.sh coverage unit golden >build/log/coverage.log 2>&1
"$profdata" merge -sparse -o build/coverage/all.profdata build/coverage/profiles/*.profraw
objects=$(find build/coverage/tests build/coverage/meridian -type f -perm -u+x 2>/dev/null |
    sed 's/^/-object /')
# shellcheck disable=SC2086
"$cov" report -instr-profile=build/coverage/all.profdata $objects src
