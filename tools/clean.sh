#!/bin/sh
# Removes what was built; keeps what was fetched (build/deps, build/tools).
. "$(dirname -- "$0")/env.sh"
[ -d build ] || exit 0
find build -mindepth 1 -maxdepth 1 ! -name deps ! -name tools -exec rm -rf {} +
rm -rf web/dist
