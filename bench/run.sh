#!/bin/sh
# The figures of bench/README.md: import speed, windows over HTTP, event records.
#   bench/run.sh [quick|full]   quick: up to 10^6 events; full: up to 10^7 JSON, 10^8 records
set -eu
cd -- "$(dirname -- "$0")/.."
size=${1:-quick}
program=build/meridian
[ -x "$program" ] || {
    echo "bench: $program is absent; run make build" >&2
    exit 1
}
echo "machine: $(nproc) cores, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
node bench/import.mjs "$program" "$size"
node bench/windows.mjs "$program" "$size"
node bench/sql.mjs "$program" "$size"
node bench/warm.mjs "$program" "$size"
node bench/session.mjs "$program" "$size"
for bench in events queue sim; do
    bench=build/release/bench/bench_$bench
    [ ! -x "$bench" ] || "$bench" "$size"
done
store=$(mktemp -d)
[ ! -x build/release/bench/bench_session ] || build/release/bench/bench_session "$store" "$size"
[ ! -x build/release/bench/bench_results ] || build/release/bench/bench_results "$store/data"
rm -rf "$store"
