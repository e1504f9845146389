#!/bin/sh
# Every golden test against one program: tests/golden/run.sh PROGRAM [--update]
# --update rewrites what may be rewritten: INDEX.md, data-losses.json, expectations of cases.
set -u
cd -- "$(dirname -- "$0")/../.." || exit 1
case $1 in
/*) MERIDIAN=$1 ;;
*) MERIDIAN=$PWD/$1 ;;
esac
export MERIDIAN
shift
if [ ! -x "$MERIDIAN" ]; then
    echo "FAIL golden: $MERIDIAN is no program"
    exit 1
fi
bad=0
parts='cases index cli pairing windows reports merge merging perfetto query convert data sim'
parts="$parts roundtrip evaluation slurm session adapters sessions record recordings"
for part in $parts; do
    node "tests/golden/$part.mjs" "$@" || bad=1
done
exit $bad
