#!/bin/sh
# Records traces of our own build on the spot, into build/traces: clang compiling one of our files
# (-ftime-trace) and Node building the page (--trace-events-enabled). Prints the files' paths.
. "$(dirname -- "$0")/env.sh"
out=build/traces
mkdir -p $out

if command -v clang >/dev/null 2>&1; then
    source=$(find src -name '*.c' -exec wc -l {} + 2>/dev/null | grep -v ' total$' |
        sort -rn | awk 'NR == 1 { print $2 }')
    if [ -n "$source" ]; then
        clang -std=c17 -D_GNU_SOURCE -O2 -Isrc -Iinclude -isystem build/deps/duckdb \
            '-DMRD_DUCKDB_PATH="libduckdb.so"' -ftime-trace -ftime-trace-granularity=50 \
            -c "$source" -o $out/clang.o >/dev/null 2>&1 || true
        [ ! -s $out/clang.json ] || say $out/clang.json
    fi
fi

vite=web/node_modules/vite/bin/vite.js
if [ -f $vite ]; then
    rm -f $out/node.*.json
    (cd web && node --trace-events-enabled \
        --trace-event-file-pattern "$top/$out/node.\${rotation}.json" \
        "$top/$vite" build --outDir "$top/$out/page" --emptyOutDir >/dev/null 2>&1) || true
    [ ! -s $out/node.1.json ] || say $out/node.1.json
fi
