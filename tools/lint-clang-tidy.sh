#!/bin/sh
# clang-tidy over the given C files, or over all of src/, tools/ and fuzz/. A file that passed is
# not looked at again until it, a header it includes or .clang-tidy changes (build/lint/passed).
. "$(dirname -- "$0")/env.sh"
flags="-std=c17 -D_GNU_SOURCE -Isrc -Iinclude -Itools -Itests -isystem build/deps/duckdb
    -isystem /usr/include/postgresql -march=x86-64-v3
    -DMRD_DUCKDB_PATH=\"libduckdb.so\" -DMRD_SOURCE_DIR=\".\" -Wno-unknown-warning-option"
[ "$(uname -m)" = x86_64 ] || flags=$(echo "$flags" | sed 's/-march=[^ ]*//')

one() {
    # shellcheck disable=SC2086
    files=$(clang $flags -MM -MT x "$1" 2>/dev/null | tr -d '\\' | sed 's/^x://')
    # shellcheck disable=SC2086
    key=$(cat .clang-tidy tools/lint-clang-tidy.sh ${files:-$1} | sha256sum | cut -c1-32)
    mark=build/lint/passed/$(printf '%s' "$1" | tr / _)-$key
    [ ! -f "$mark" ] || return 0
    log=build/lint/log-$$
    # shellcheck disable=SC2086
    if clang-tidy --quiet --config-file=.clang-tidy "$1" -- $flags >"$log" 2>/dev/null; then
        : >"$mark"
        rm -f "$log"
    else
        cat "$log"
        rm -f "$log"
        return 1
    fi
}

mkdir -p build/lint/passed
if [ "${1:-}" = --one ]; then
    one "$2"
    exit
fi
if [ "$#" -gt 0 ]; then
    printf '%s\n' "$@"
else
    sh tools/files.sh 'src/*.c' 'tools/*.c' 'fuzz/*.c' | grep '^\(src\|tools\|fuzz\)/.*\.c$' || true
fi | tr '\n' '\0' | xargs -0 -r -n 1 -P "$jobs" sh tools/lint-clang-tidy.sh --one
