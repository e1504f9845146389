#!/bin/sh
# Builds the page (web/dist). Packages are installed when package-lock.json changed since, the page
# is built when one of its sources did. `packages` as argument stops before the build.
. "$(dirname -- "$0")/env.sh"
[ -f web/package-lock.json ] || exit 0
mkdir -p build/web

# Two callers at a time (build and test) wait for each other.
if [ -z "${MRD_WEB_LOCKED:-}" ] && command -v flock >/dev/null 2>&1; then
    MRD_WEB_LOCKED=1 exec flock build/web/lock sh tools/build-web.sh "$@"
fi

lock=$(sha256sum web/package.json web/package-lock.json)
if [ ! -d web/node_modules ] || [ "$(cat build/web/packages 2>/dev/null)" != "$lock" ]; then
    say "page: installing its packages"
    if ! (cd web && npm ci --no-audit --no-fund) >build/web/npm.log 2>&1; then
        grep -v "^npm error *$" build/web/npm.log | head -n 8 >&2
        say "page: npm ci failed, see build/web/npm.log" >&2
        exit 1
    fi
    printf '%s\n' "$lock" >build/web/packages
fi
[ "${1:-}" != packages ] || exit 0

sources=$(find web -name node_modules -prune -o -name dist -prune -o -type f -print0 |
    LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum)
if [ ! -f web/dist/index.html ] || [ "$(cat build/web/sources 2>/dev/null)" != "$sources" ]; then
    say "page: building"
    (cd web && npm run --silent build)
    printf '%s\n' "$sources" >build/web/sources
fi
