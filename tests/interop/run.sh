#!/bin/sh
# Tests with readers of other projects. usage: tests/interop/run.sh BUILD-DIR
# Prints PASS, FAIL and SKIP lines. What npm cannot install is skipped, and said so.
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
top=$(CDPATH='' cd -- "$here/../.." && pwd)
build=${1:?usage: tests/interop/run.sh BUILD-DIR}
case $build in /*) ;; *) build=$top/$build ;; esac
out=$build/interop
rm -rf "$out/samples"
mkdir -p "$out/samples" || exit 1

if ! command -v node >/dev/null; then
    echo "SKIP interop/arrow: node is not installed"
    exit 0
fi
lock=$here/package-lock.json
stamp=$here/node_modules/.package-lock.json
if [ ! -e "$stamp" ] || [ -n "$(find "$lock" -newer "$stamp")" ]; then
    if ! npm --prefix "$here" ci --silent >"$out/npm.log" 2>&1; then
        echo "SKIP interop/arrow: npm cannot install its packages, see $out/npm.log"
        exit 0
    fi
    touch "$stamp"
fi

# The sources themselves, not the archive of the build: the same for every preset.
compile() {
    ${CC:-cc} -std=c17 -D_GNU_SOURCE -O1 -g -Wall -Wextra -Werror -I"$top/src" -I"$top/include" \
        "$here/$1.c" "$top"/src/arrow/*.c "$top"/src/base/*.c -o "$out/$1" \
        -lm -lpthread -lcrypto || {
        echo "FAIL interop/arrow: $1.c does not build"
        exit 1
    }
}
compile arrow_samples
compile arrow_dump
if ! "$out/arrow_samples" "$out/samples"; then
    echo "FAIL interop/arrow: arrow_samples ended badly"
    exit 1
fi
failed=0
node "$here/arrow.test.mjs" "$out/samples" || failed=1
mkdir -p "$out/foreign"
node "$here/arrow_reader.test.mjs" "$out/foreign" "$out/arrow_dump" || failed=1

program=${MERIDIAN:-$build/meridian}
if [ -x "$program" ]; then
    mkdir -p "$out/parquet"
    node "$here/parquet.test.mjs" "$out/parquet" "$program" || failed=1
    rm -rf "$out/chrome"
    mkdir -p "$out/chrome"
    node "$here/chrome.test.mjs" "$out/chrome" "$program" || failed=1
else
    echo "SKIP interop/parquet: $program was not built"
fi
exit $failed
