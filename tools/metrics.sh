#!/bin/sh
# Writes docs/metrics.md from the metric registry. Meanings that changed without a new version are
# not touched: tests/unit/session/definitions.txt takes a new line by hand, which
# `build/release/tools/meridian-metrics definitions` prints.
. "$(dirname -- "$0")/env.sh"
sh tools/build.sh release
build/release/tools/meridian-metrics docs >docs/metrics.md.new
mv docs/metrics.md.new docs/metrics.md
