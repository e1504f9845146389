#!/bin/sh
# Fuzzes one door: tools/fuzz.sh TARGET SECONDS. New inputs go to build/fuzz-corpus/TARGET; what
# is worth keeping is copied to fuzz/corpus/TARGET by hand or by a merge (-merge=1).
. "$(dirname -- "$0")/env.sh"
target=${1:-}
seconds=${2:-60}
if [ -z "$target" ] || [ ! -f "fuzz/fuzz_$target.c" ]; then
    say "usage: make fuzz TARGET=name SECONDS=n, with one of these names:" >&2
    for file in fuzz/fuzz_*.c; do
        [ -f "$file" ] || continue
        file=${file##*/fuzz_}
        say "  ${file%.c}" >&2
    done
    exit 2
fi
sh tools/build.sh fuzz "fuzz_$target"
found=build/fuzz-corpus/$target
mkdir -p "$found" build/fuzz-findings
set -- "$found"
[ ! -d "fuzz/corpus/$target" ] || set -- "$found" "fuzz/corpus/$target"
[ ! -f "fuzz/$target.dict" ] || set -- -dict="fuzz/$target.dict" "$@"
exec "build/fuzz/fuzz/fuzz_$target" -max_total_time="${seconds:-60}" -rss_limit_mb=4096 \
    -timeout=25 -artifact_prefix="build/fuzz-findings/$target-" -print_final_stats=1 "$@"
