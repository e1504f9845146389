#!/bin/sh
# The repository's files that exist, one a line, without the planted violations:
# tools/files.sh [PATTERN...]. Without git (an unpacked archive): a plain search.
. "$(dirname -- "$0")/env.sh"
if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    git ls-files --cached --others --exclude-standard -- "$@"
else
    find . -name node_modules -prune -o -path ./build -prune -o -path ./web/dist -prune \
        -o -type f -print | sed 's/^\.\///'
fi | grep -vE '^tests/lint/planted/' | while IFS= read -r file; do
    [ ! -f "$file" ] || printf '%s\n' "$file"
done
