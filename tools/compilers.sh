#!/bin/sh
# Replays sessions with programs made by every compiler here (gcc, clang), each at -O0, -O2 and -O3
# for the native processor, and compares every byte with what build/meridian stored:
# tools/compilers.sh [DIR...]. Without DIR: of lines made here and of a short recording.
. "$(dirname -- "$0")/env.sh"
work=build/compilers
rm -rf "$work"
mkdir -p "$work"

# Numbers that do not come out even, of every kind of metric; breaks, ticks and gaps among them.
lines() {
    node -e '
        let t = 1e9, state = 7
        const random = (n) => (state = (state * 1103515245 + 12345) % 2147483648) % n
        const line = (sourceId, kind, payload, more = {}) => console.log(JSON.stringify({ sourceId,
          kind, hostReceiveMonotonicNs: t, sourceTimestamp: t, clockDomain: "own", pid: 7, payload,
          ...more }))
        let cpu = 0, bytes = 0
        for (let i = 0; i < 20000; i++) {
          t += 1000003 + random(9999991)
          cpu += random(7777777)
          bytes = random(997) === 0 ? 0 : bytes + random(1e6)
          line("a", "proc.cpu", { cpuNs: cpu, nCpu: 3 })
          line("b", "net.iface", { rxBytes: bytes }, { sourceEpoch: 1 + Math.floor(i / 3000) })
          line("c", "g", { gauges: { x: random(1e6) / 7, y: i % 11 === 0 ? null : random(100) } })
          line("d", "frame", { displayId: 1 })
          if (i % 100 === 0) line("publisher", "tick", {}, { clockDomain: "none" })
          if (i % 5000 === 0) console.log("{")
        }'
}

if [ $# = 0 ]; then
    lines >"$work/lines.ndjson"
    build/meridian session ingest "$work/lines.ndjson" --out "$work/lines" >/dev/null
    build/meridian record --host --every 20ms --duration 2s --out "$work/host" >/dev/null
    set -- "$work/lines" "$work/host"
fi
bad=0
for compiler in gcc clang; do
    if ! command -v "$compiler" >/dev/null; then
        say "SKIP $compiler: not installed"
        continue
    fi
    for level in -O0 -O2 "-O3 -march=native"; do
        name=$work/$compiler$(printf '%s' "$level" | tr -d ' =')
        # shellcheck disable=SC2086 # words are wanted
        "$compiler" -std=c17 -D_GNU_SOURCE $level -ffp-contract=off -fno-math-errno -pthread \
            -Isrc -Iinclude -o "$name" tools/replay/replay.c src/base/*.c src/session/*.c \
            src/session/format/*.c src/session/sources/*.c -ljansson -lcrypto -lxxhash -lm
        if "$name" "$@" >"$name.log"; then
            say "PASS $compiler $level: $(wc -l <"$name.log") sessions, every byte"
        else
            say "FAIL $compiler $level: $(grep -v ': equal' "$name.log" | head -1)"
            bad=1
        fi
    done
done
exit $bad
