# Sourced by the other scripts (from the top folder): paths and settings common to all of them.
set -eu
top=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$top"

# A Node that setup.sh unpacked comes before one that is too old for Vite.
if [ -x build/tools/bin/node ]; then
    PATH=$top/build/tools/bin:$PATH
    export PATH
fi

jobs=${MRD_JOBS:-$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)}

# True when the Node on the path is new enough for Vite 8: 20.19 and later, or 22.12 and later.
node_is_new() {
    command -v node >/dev/null 2>&1 && node -e '
        const [major, minor] = process.versions.node.split(".").map(Number)
        const ok = major > 22 || (major === 22 && minor >= 12) || (major === 20 && minor >= 19)
        process.exit(ok ? 0 : 1)'
}

say() {
    printf '%s\n' "$*"
}
