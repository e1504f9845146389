/* Clocks of a trace: its graph, each file's way to trace time, what was assumed. */
#include "base/error.h"
#include "export/export.h"
#include "export/tables.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- What both forms say ---- */

static const char *machine_name(const mrd__store *store, uint32_t machine)
{
    if (machine >= store->machine_count || store->machines[machine].name == 0) return NULL;
    return mrd__store_str(store, store->machines[machine].name).data;
}

static bool is_assumed(const mrd__store *store, const mrd__clock *clock)
{
    for (uint32_t i = 0; i < clock->hop_count; i++)
        if (store->clock_hops[clock->first_hop + i].origin == MRD__CLOCK_FROM_NOTHING) return true;
    return false;
}

/* How far off a reading may be by what is known: offsets that were read differ by so much. */
static uint64_t spread_of(const mrd__store *store, const mrd__clock *clock)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < clock->hop_count; i++)
        sum += (uint64_t)store->clock_hops[clock->first_hop + i].spread_ns;
    return sum;
}

typedef struct edge { /* of the graph: two clocks that were read together or set equal */
    uint32_t a, b;
    uint8_t origin;
    uint64_t observations;
} edge;
typedef MRD__VEC(edge) edges;

static int compare_edges(const void *left, const void *right)
{
    const edge *x = left;
    const edge *y = right;
    if (x->a != y->a) return x->a < y->a ? -1 : 1;
    if (x->b != y->b) return x->b < y->b ? -1 : 1;
    return x->origin < y->origin ? -1 : x->origin > y->origin;
}

/* Sorted, equal ones made one. */
static void unite(edges *all)
{
    if (all->count > 1) qsort(all->data, all->count, sizeof *all->data, compare_edges);
    size_t kept = 0;
    for (size_t i = 0; i < all->count; i++) {
        if (kept > 0 && compare_edges(&all->data[kept - 1], &all->data[i]) == 0)
            all->data[kept - 1].observations += all->data[i].observations;
        else
            all->data[kept++] = all->data[i];
    }
    all->count = kept;
}

#define UNITE_AT 65536 /* edges gathered before equal ones are made one */

static edges edges_of(const mrd__store *store)
{
    edges all = {0};
    size_t united = 0;
    for (size_t from = 0, to; from < store->clock_value_count; from = to) {
        const mrd__clock_value *values = store->clock_values;
        for (to = from;
             to < store->clock_value_count && values[to].snapshot == values[from].snapshot;)
            to++;
        for (size_t i = from; i < to; i++) {
            for (size_t j = i + 1; j < to; j++) {
                uint32_t a = values[i].clock < values[j].clock ? values[i].clock : values[j].clock;
                uint32_t b = values[i].clock < values[j].clock ? values[j].clock : values[i].clock;
                if (a != b) mrd__vec_push(&all, ((edge){a, b, values[i].origin, 1}));
            }
        }
        if (all.count < united + UNITE_AT) continue;
        unite(&all);
        united = all.count;
    }
    unite(&all);
    return all;
}

/* ---- JSON ---- */

static void text_member(mrd__buf *out, const char *name, const char *text)
{
    mrd__buf_printf(out, "\"%s\":", name);
    if (text != NULL)
        mrd__buf_json_string(out, mrd__str_of(text));
    else
        mrd__buf_text(out, "null");
}

static void hop_json(mrd__buf *out, const mrd__clock_step *hop)
{
    mrd__buf_printf(out,
                    "{\"from\":%" PRIu32 ",\"to\":%" PRIu32
                    ",\"source\":\"%s\",\"observations\":%" PRIu64 ",\"first_offset_ns\":%" PRId64
                    ",\"last_offset_ns\":%" PRId64 ",\"spread_ns\":%" PRId64 ",\"drift_ppm\":",
                    hop->from, hop->to, mrd__clock_origin_name((mrd__clock_origin)hop->origin),
                    hop->observations, hop->first_offset_ns, hop->last_offset_ns, hop->spread_ns);
    mrd__buf_json_double(out, hop->drift_ppm);
    mrd__buf_char(out, '}');
}

static void name_json(mrd__buf *out, const mrd__store *store, uint32_t index)
{
    const mrd__clock *clock = &store->clocks[index];
    mrd__buf_printf(out, "\"id\":%" PRIu32 ",\"clock_id\":%" PRIu32 ",", index, clock->id);
    text_member(out, "clock", mrd__clock_name(clock->id));
    mrd__buf_printf(out, ",\"sequence\":%" PRIu32 ",", clock->sequence);
    text_member(out, "file", store->files[clock->file].path);
    mrd__buf_printf(out, ",\"machine_id\":%" PRIu32 ",", clock->machine);
    text_member(out, "machine", machine_name(store, clock->machine));
}

static void clock_json(mrd__buf *out, const mrd__store *store, uint32_t index)
{
    const mrd__clock *clock = &store->clocks[index];
    bool assumed = is_assumed(store, clock);
    mrd__buf_char(out, '{');
    name_json(out, store, index);
    mrd__buf_printf(out,
                    ",\"facts\":%" PRIu64 ",\"dropped\":%" PRIu64
                    ",\"reached\":%s,\"assumed\":%s,\"off_by_ns\":",
                    clock->facts, clock->dropped, clock->reached ? "true" : "false",
                    assumed ? "true" : "false");
    if (assumed || !clock->reached)
        mrd__buf_text(out, "null");
    else
        mrd__buf_uint(out, spread_of(store, clock));
    mrd__buf_text(out, ",\"path\":[");
    for (uint32_t i = 0; i < clock->hop_count; i++) {
        if (i > 0) mrd__buf_char(out, ',');
        hop_json(out, &store->clock_hops[clock->first_hop + i]);
    }
    mrd__buf_text(out, "]}");
}

static void file_json(mrd__buf *out, const mrd__store *store, uint32_t index)
{
    const mrd__file *file = &store->files[index];
    uint64_t dropped = 0;
    bool assumed = false;
    mrd__buf_char(out, '{');
    text_member(out, "path", file->path);
    mrd__buf_char(out, ',');
    text_member(out, "format", file->format);
    mrd__buf_printf(out, ",\"machine_id\":%" PRIu32 ",", file->machine);
    text_member(out, "machine", machine_name(store, file->machine));
    mrd__buf_text(out, ",\"clocks\":[");
    const char *comma = "";
    for (size_t c = 0; c < store->clock_count; c++) {
        const mrd__clock *clock = &store->clocks[c];
        if (clock->file != index) continue;
        dropped += clock->dropped;
        assumed |= clock->facts > 0 && is_assumed(store, clock);
        mrd__buf_printf(out, "%s%zu", comma, c);
        comma = ",";
    }
    mrd__buf_printf(out, "],\"assumed\":%s,\"dropped\":%" PRIu64 ",\"shift_ns\":%" PRId64,
                    assumed ? "true" : "false", dropped, file->shift_ns);
    mrd__buf_printf(out, ",\"pairs\":%" PRIu32, file->align_pairs);
    if (file->align_pairs > 0)
        mrd__buf_printf(out, ",\"residual_ns\":{\"min\":%" PRId64 ",\"max\":%" PRId64 "}",
                        file->residual_min_ns, file->residual_max_ns);
    mrd__buf_char(out, '}');
}

static void edges_json(mrd__buf *out, const mrd__store *store)
{
    edges all = edges_of(store);
    for (size_t i = 0; i < all.count; i++) {
        const edge *one = &all.data[i];
        mrd__buf_printf(out,
                        "%s{\"a\":%" PRIu32 ",\"b\":%" PRIu32
                        ",\"source\":\"%s\",\"observations\":%" PRIu64 "}",
                        i > 0 ? "," : "", one->a, one->b,
                        mrd__clock_origin_name((mrd__clock_origin)one->origin), one->observations);
    }
    mrd__vec_reset(&all);
}

static void clocks_json(mrd__buf *out, const mrd__store *store)
{
    mrd__buf_text(out, "{\"trace_time\":");
    if (store->trace_clock != MRD__NONE && store->clock_count > 0) {
        mrd__buf_char(out, '{');
        name_json(out, store, store->trace_clock);
        mrd__buf_char(out, '}');
    } else {
        mrd__buf_text(out, "null");
    }
    mrd__buf_char(out, ',');
    text_member(out, "align", store->align);
    mrd__buf_printf(out, ",\"interpolation\":\"%s\",\"files\":[",
                    store->clock_linear ? "linear" : "step");
    const char *comma = "";
    for (uint32_t f = 0; f < store->file_count; f++) {
        if (store->files[f].clock == NULL) continue; /* archives and what nobody read */
        mrd__buf_text(out, comma);
        file_json(out, store, f);
        comma = ",";
    }
    mrd__buf_text(out, "],\"clocks\":[");
    for (uint32_t c = 0; c < store->clock_count; c++) {
        if (c > 0) mrd__buf_char(out, ',');
        clock_json(out, store, c);
    }
    mrd__buf_text(out, "],\"edges\":[");
    edges_json(out, store);
    mrd__buf_text(out, "]}\n");
}

/* ---- Text for people ---- */

static void clock_text(mrd__buf *out, const mrd__store *store, uint32_t index, uint32_t file)
{
    const mrd__clock *clock = &store->clocks[index];
    const char *name = mrd__clock_name(clock->id);
    if (name != NULL)
        mrd__buf_text(out, name);
    else
        mrd__buf_printf(out, "clock %" PRIu32, clock->id);
    if (clock->sequence != 0) mrd__buf_printf(out, " of sequence %" PRIu32, clock->sequence);
    if (clock->file == file) return;
    const char *machine = machine_name(store, clock->machine);
    if (machine != NULL) mrd__buf_printf(out, " of %s", machine);
    mrd__buf_printf(out, " in %s", store->files[clock->file].path);
}

static void hop_text(mrd__buf *out, const mrd__store *store, const mrd__clock_step *hop,
                     uint32_t file)
{
    mrd__buf_text(out, "             ");
    clock_text(out, store, hop->from, file);
    mrd__buf_text(out, " -> ");
    clock_text(out, store, hop->to, file);
    if (hop->origin == MRD__CLOCK_FROM_NOTHING) {
        mrd__buf_text(out, ": assumed equal\n");
        return;
    }
    mrd__buf_printf(out, ": %s, offset %+" PRId64 " ns",
                    mrd__clock_origin_name((mrd__clock_origin)hop->origin), hop->first_offset_ns);
    if (hop->observations > 1)
        mrd__buf_printf(
            out, " to %+" PRId64 " ns, %" PRIu64 " times, spread %" PRId64 " ns, drift %+.3f ppm",
            hop->last_offset_ns, hop->observations, hop->spread_ns, hop->drift_ppm);
    mrd__buf_char(out, '\n');
}

static void path_text(mrd__buf *out, const mrd__store *store, uint32_t index)
{
    const mrd__clock *clock = &store->clocks[index];
    mrd__buf_text(out, "         ");
    clock_text(out, store, index, clock->file);
    mrd__buf_printf(out, ", %" PRIu64 " fact%s", clock->facts, clock->facts == 1 ? "" : "s");
    if (index == store->trace_clock)
        mrd__buf_text(out, ": trace time");
    else if (!clock->reached)
        mrd__buf_text(out, ": no path to trace time");
    else if (is_assumed(store, clock))
        mrd__buf_text(out, ": assumed, nothing says how far off");
    else
        mrd__buf_printf(out, ": within %" PRIu64 " ns", spread_of(store, clock));
    if (clock->dropped > 0) mrd__buf_printf(out, ", %" PRIu64 " dropped", clock->dropped);
    mrd__buf_char(out, '\n');
    for (uint32_t i = 0; i < clock->hop_count; i++)
        hop_text(out, store, &store->clock_hops[clock->first_hop + i], clock->file);
}

static void file_text(mrd__buf *out, const mrd__store *store, uint32_t index)
{
    const mrd__file *file = &store->files[index];
    const char *machine = machine_name(store, file->machine);
    mrd__buf_printf(out, "file     %s", file->path);
    if (machine != NULL) mrd__buf_printf(out, " (machine %s)", machine);
    mrd__buf_char(out, '\n');
    for (uint32_t c = 0; c < store->clock_count; c++) {
        const mrd__clock *clock = &store->clocks[c];
        if (clock->file == index && (clock->facts > 0 || c == store->trace_clock))
            path_text(out, store, c);
    }
    if (file->shift_ns != 0 || file->align_pairs > 0)
        mrd__buf_printf(out, "         shifted by %+" PRId64 " ns", file->shift_ns);
    if (file->align_pairs > 0)
        mrd__buf_printf(
            out, ", the median of %" PRIu32 " collectives, residuals %" PRId64 " to %" PRId64 " ns",
            file->align_pairs, file->residual_min_ns, file->residual_max_ns);
    if (file->shift_ns != 0 || file->align_pairs > 0)
        mrd__buf_char(out, '\n');
    else if (mrd__str_is(mrd__str_of(store->align), "collectives"))
        mrd__buf_text(out, "         not shifted\n");
}

static bool nothing_aligned(const mrd__store *store)
{
    if (!mrd__str_is(mrd__str_of(store->align), "collectives")) return false;
    size_t files = 0;
    for (uint32_t f = 0; f < store->file_count; f++) {
        if (store->files[f].align_pairs > 0) return false;
        files += store->files[f].clock != NULL;
    }
    return files > 1;
}

static void clocks_text(mrd__buf *out, const mrd__store *store)
{
    mrd__buf_text(out, "trace    ");
    if (store->trace_clock != MRD__NONE && store->clock_count > 0)
        clock_text(out, store, store->trace_clock, MRD__NONE);
    else
        mrd__buf_text(out, "no clock");
    mrd__buf_printf(out, "; align %s, %s between snapshots\n",
                    store->align != NULL ? store->align : "realtime",
                    store->clock_linear ? "linear" : "step");
    for (uint32_t f = 0; f < store->file_count; f++)
        if (store->files[f].clock != NULL) file_text(out, store, f);
    if (nothing_aligned(store))
        mrd__buf_text(out, "align    no two files share a collective: nothing is shifted\n");
}

mrd_status mrd__export_clocks(const mrd__store *store, mrd_format format, const mrd_sink *sink,
                              mrd_error *error)
{
    if (format != MRD_FORMAT_TEXT && format != MRD_FORMAT_JSON)
        return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_format",
                         "clocks are written as text or json");
    mrd__buf out = {0};
    if (format == MRD_FORMAT_JSON)
        clocks_json(&out, store);
    else
        clocks_text(&out, store);
    mrd_status status = mrd__buf_flush(&out, sink, error);
    mrd__buf_reset(&out);
    return status;
}
