#!/bin/sh
# The house rules. Each check prints its violations and then PASS or FAIL; the last line is the sum.
. "$(dirname -- "$0")/env.sh"
mkdir -p build/log
out=build/log/lint.log
: >"$out"

check() {
    name=$1
    shift
    if "$@" >build/log/lint-one.log 2>&1; then
        echo "PASS lint/$name" | tee -a "$out"
    else
        cat build/log/lint-one.log
        echo "FAIL lint/$name: $(grep -c . build/log/lint-one.log) lines above" | tee -a "$out"
    fi
}

tidy() {
    sh tools/files.sh | sh tools/tidy.sh --layers tools/layers.txt
}

web() {
    sh tools/build-web.sh packages && npm --prefix web run --silent "$1"
}

sh tools/setup.sh
check tidy tidy
check format sh tools/lint-format.sh
check shell sh tools/lint-shell.sh
if [ -f web/package.json ]; then
    check typescript web typecheck
    check eslint web lint
fi
check clang-tidy sh tools/lint-clang-tidy.sh
awk -f tools/sum.awk "$out"
