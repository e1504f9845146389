#!/bin/sh
# What makes a fuzzer count: its kept corpus reaches at least 80 % of the lines of its door, and it
# finds a planted bug (-DMRD_PLANTED_BUGS=ON) within a minute. Prints PASS or FAIL for both.
#   tools/fuzz-proof.sh [--coverage] [TARGET...]    --coverage: without the planted bug
. "$(dirname -- "$0")/env.sh"
profdata=$(command -v llvm-profdata || command -v llvm-profdata-14)
cov=$(command -v llvm-cov || command -v llvm-cov-14)
work=build/fuzz-proof
mkdir -p "$work"

# The source files that are a target's door.
door() {
    case $1 in
    json) echo src/ingest/chrome_json src/ingest/gzip.c ;;
    event_parquet) echo src/ingest/event_parquet src/pairing/event_pairs.c ;;
    window_params) echo src/query/params.c ;;
    perfetto) echo src/ingest/perfetto ;;
    table)
        echo src/ingest/table/arrow.c src/ingest/table/parquet.c src/ingest/table/rows.c \
            src/arrow/reader.c src/arrow/fbread.c src/arrow/schema.c
        ;;
    archive) echo src/ingest/archive src/ingest/inputs.c ;;
    manifest) echo src/open/manifest.c src/open/plan.c ;;
    image) echo src/model/image_read.c src/model/image_walk.c ;;
    http)
        echo src/server/http.c src/server/routes.c src/server/query.c src/server/sessions.c \
            src/server/recordings.c
        ;;
    sim_spec) echo src/sim/spec*.c ;;
    session_line)
        echo src/session/line.c src/session/encode.c src/session/format/envelope.c \
            src/session/format/broken.c src/session/sources/lines.c src/session/projector*.c
        ;;
    session_files)
        echo src/session/format/reader.c src/session/manifest.c src/session/stored.c \
            src/session/walk.c src/session/verify.c src/session/recover.c
        ;;
    session_trace) echo src/ingest/session ;;
    sql) echo src/sql/place.c src/sql/statement.c ;;
    table_folder) echo src/ingest/table/folder.c src/duck/footer.c ;;
    *) return 1 ;;
    esac
}

coverage() {
    target=$1
    cmake --preset coverage >"$work/cmake.log" 2>&1
    cmake --build build/coverage --target "replay_$target" -j "$jobs" >"$work/build.log" 2>&1 || {
        echo "FAIL fuzz-coverage/$target: does not build, see $work/build.log"
        return
    }
    rm -f "$work/$target".prof*
    LLVM_PROFILE_FILE="$work/$target.profraw" "build/coverage/tests/replay_$target" \
        "fuzz/corpus/$target" >"$work/$target.log" 2>&1
    "$profdata" merge -sparse -o "$work/$target.profdata" "$work/$target.profraw"
    "$cov" report -instr-profile="$work/$target.profdata" "build/coverage/tests/replay_$target" \
        >"$work/$target.lines"
    # shellcheck disable=SC2046
    reached "$target" $(door "$target")
}

# Of the report of all files that are linked, the rows of the door's. (llvm-cov's own choice of
# sources does not know the relative names that the compiler writes, and then shows all.) A file
# without a row is no part of the program: a mistake in door().
reached() {
    target=$1
    shift
    awk -v target="$target" -v wanted="$*" '
        BEGIN {
            count = split(wanted, want, " ")
        }
        {
            name = $1
            sub(/^(\.\.\/)+/, "", name)
            sub(/^.*\/src\//, "src/", name)
            for (i = 1; i <= count; i++) {
                if (name != want[i] && index(name, want[i] "/") != 1) continue
                seen[i] = 1
                lines += $8
                missed += $9
                if ($9 * 5 > $8) low = low sprintf("\n    %s %d of %d", name, $8 - $9, $8)
            }
        }
        END {
            for (i = 1; i <= count; i++)
                if (!seen[i]) absent = absent " " want[i]
            share = lines > 0 ? 100 * (lines - missed) / lines : 0
            if (absent != "")
                printf "FAIL fuzz-coverage/%s: not in the program:%s\n", target, absent
            else if (share >= 80)
                printf "PASS fuzz-coverage/%s: %.2f %% of the lines%s\n", target, share, low
            else
                printf "FAIL fuzz-coverage/%s: %.2f %% of the lines, wanted are 80%s\n", target,
                    share, low
        }' "$work/$target.lines"
}

planted() {
    target=$1
    cmake --preset fuzz -B "$work/planted" -DMRD_PLANTED_BUGS=ON >"$work/cmake.log" 2>&1
    cmake --build "$work/planted" --target "fuzz_$target" -j "$jobs" >"$work/build.log" 2>&1 || {
        echo "FAIL fuzz-planted/$target: does not build, see $work/build.log"
        return
    }
    rm -rf "$work/found-$target"
    mkdir -p "$work/found-$target"
    if "$work/planted/fuzz/fuzz_$target" -max_total_time=60 -rss_limit_mb=4096 \
        -artifact_prefix="$work/found-$target/" "$work/found-$target" "fuzz/corpus/$target" \
        >"$work/$target-planted.log" 2>&1; then
        echo "FAIL fuzz-planted/$target: not found within a minute"
    else
        echo "PASS fuzz-planted/$target: found"
    fi
}

both=true
if [ "${1:-}" = --coverage ]; then
    both=false
    shift
fi
[ $# -gt 0 ] || set -- json event_parquet perfetto table window_params http archive manifest \
    sim_spec session_line session_files session_trace image sql table_folder
for name in "$@"; do
    door "$name" >/dev/null || {
        say "fuzz-proof: there is no target $name" >&2
        exit 2
    }
    coverage "$name"
    [ $both = false ] || planted "$name"
done
