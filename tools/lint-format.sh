#!/bin/sh
# clang-format over the given C files, or over all: tools/lint-format.sh [--fix] [FILE...]
. "$(dirname -- "$0")/env.sh"
mode='--dry-run -Werror'
if [ "${1:-}" = --fix ]; then
    mode=-i
    shift
fi
if [ "$#" -gt 0 ]; then
    printf '%s\n' "$@"
else
    sh tools/files.sh '*.c' '*.h' | grep '\.[ch]$' || true
fi | tr '\n' '\0' | xargs -0 -r clang-format --style=file:.clang-format $mode
