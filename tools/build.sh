#!/bin/sh
# Builds one preset: tools/build.sh PRESET [TARGET...]. The page is built first where it has
# changed (not for fuzz and coverage, which do not serve it).
. "$(dirname -- "$0")/env.sh"
preset=${1:?a preset: dev release asan tsan fuzz coverage}
shift
sh tools/setup.sh
# A page that does not build is a failure, told at the end: the rest is built and can be tested.
page=0
case $preset in
dev | release | asan | tsan) sh tools/build-web.sh || page=1 ;;
esac
if [ ! -f "build/$preset/CMakeCache.txt" ] && command -v ninja >/dev/null 2>&1; then
    CMAKE_GENERATOR=Ninja
    export CMAKE_GENERATOR
fi
mkdir -p build
if ! cmake --preset "$preset" >"build/configure-$preset.log" 2>&1; then
    cat "build/configure-$preset.log" >&2
    exit 1
fi
grep -A4 'Warning' "build/configure-$preset.log" >&2 || true
[ "$#" -gt 0 ] || set -- all
# Everything that can be built is built, so that one broken test says nothing about the others.
keep_going=-k
grep -q '^CMAKE_GENERATOR:.*Ninja' "build/$preset/CMakeCache.txt" && keep_going='-k 0 --quiet'
# shellcheck disable=SC2086
cmake --build --preset "$preset" -j "$jobs" --target "$@" -- $keep_going || exit 1
if [ "$page" != 0 ]; then
    say "build: the page does not build, see above" >&2
    exit 1
fi
