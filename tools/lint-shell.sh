#!/bin/sh
# Every script parses: tools/lint-shell.sh [FILE...]
. "$(dirname -- "$0")/env.sh"
[ "$#" -gt 0 ] || set -- $(sh tools/files.sh '*.sh' '.ci/run' 'tests/*/run' | sort)
code=0
for file in "$@"; do
    case $(head -n 1 "$file") in
    *bash*) bash -n "$file" || code=1 ;;
    *sh*) sh -n "$file" || code=1 ;;
    esac
done
exit $code
