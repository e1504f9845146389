/* From what was counted to numbers: one division each, at the end. */
#include "base/sort.h"
#include "session/report_state.h"

#include "session/registry.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint32_t n_of(uint64_t count)
{
    return count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;
}

static mrd__measured nothing(void)
{
    return mrd__measured_none(MRD__QUALITY_MISSING);
}

static mrd__measured real_or_nothing(double value, uint64_t n)
{
    return isfinite(value) ? mrd__measured_real(value, n_of(n)) : nothing();
}

/* An integer where it fits, else the nearest double. */
static mrd__measured whole(__int128 value, uint64_t n)
{
    if (value >= INT64_MIN && value <= INT64_MAX)
        return mrd__measured_integer((int64_t)value, n_of(n));
    return mrd__measured_real((double)value, n_of(n));
}

/* h = p (N - 1), linear between its neighbours; percent and N - 1 are integers, so h is exact. */
static mrd__measured percentile(const series_stats *s, const double *sorted, uint64_t percent)
{
    size_t n = s->values.count;
    if (n == 0) return nothing();
    unsigned __int128 h = (unsigned __int128)percent * (n - 1);
    size_t i = (size_t)(h / 100);
    unsigned rest = (unsigned)(h % 100);
    double value = sorted[i];
    if (rest > 0) value += (double)rest / 100.0 * (sorted[i + 1] - sorted[i]);
    if (!s->has_reals && fabs(value) < 0x1p53 && value == trunc(value))
        return mrd__measured_integer((int64_t)value, n_of(n));
    return real_or_nothing(value, n);
}

static mrd__measured mean_of(const series_stats *s)
{
    uint64_t n = s->counts[MRD__QUALITY_OK];
    const mrd__series *of = s->series;
    if (n == 0) return nothing();
    if (of->kind == MRD__METRIC_RATE) {
        if (s->under == 0) return nothing();
        /* numer is at most 10^9: the exact product fits unless 2^98 bytes went over the wire. */
        return real_or_nothing((double)(s->delta * of->numer) / (double)(s->under * of->denom), n);
    }
    if (of->kind == MRD__METRIC_INTERVAL)
        return real_or_nothing(
            (double)(s->weight * of->numer) / (double)((unsigned __int128)n * of->denom), n);
    if (s->weight == 0) return nothing();
    return real_or_nothing(((double)s->integer_sum + s->real_sum) / (double)s->weight, n);
}

static void fill_range(const series_stats *s, const double *sorted, mrd__metric_row *row)
{
    size_t n = s->values.count;
    row->min = row->max = nothing();
    if (n == 0) return;
    if (s->has_reals) {
        row->min = mrd__measured_real(sorted[0], n_of(n));
        row->max = mrd__measured_real(sorted[n - 1], n_of(n));
    } else {
        row->min = mrd__measured_integer(s->least, n_of(n));
        row->max = mrd__measured_integer(s->greatest, n_of(n));
    }
}

/* Of the session's time: what no reading covers is missing; what a source has not got it has not
 * got after its last word either. */
static void fill_shares(const mrd__session_report *r, const series_stats *s, mrd__metric_row *row)
{
    unsigned __int128 times[MRD__QUALITIES], known = 0;
    __int128 span = r->has_host ? mrd__elapsed(r->first_host, r->last_host).ns : 0;
    memcpy(times, s->covered, sizeof times);
    if (s->last.quality == MRD__QUALITY_UNSUPPORTED && s->has_host)
        times[MRD__QUALITY_UNSUPPORTED] +=
            (unsigned __int128)mrd__elapsed(s->last_host, r->last_host).ns;
    for (size_t i = 0; i < MRD__QUALITIES; i++)
        known += times[i];
    if (span > (__int128)known) times[MRD__QUALITY_MISSING] += (unsigned __int128)span - known;
    for (size_t i = 0; i < MRD__QUALITIES; i++)
        row->shares[i] =
            span > 0 ? real_or_nothing((double)times[i] / (double)span, s->readings) : nothing();
    row->coverage = row->shares[MRD__QUALITY_OK];
}

static void fill_frames(const series_stats *s, const double *sorted, mrd__frames_row *row)
{
    size_t n = s->values.count;
    *row = (mrd__frames_row){
        .series = s->series,
        .frames = n,
        .fps = nothing(),
        .fps_p1 = nothing(),
        .fps_low_1 = nothing(),
        .stutter = nothing(),
        .janks = s->janks,
        .big_janks = s->big_janks,
        .big_janks_3x = s->big_janks_3x,
        .jank_sequences = s->jank_sequences.data,
        .big_jank_sequences = s->big_sequences.data,
    };
    if (n == 0 || s->weight == 0) return;
    double p99, worst = 0;
    size_t tail = (n + 99) / 100;
    for (size_t i = 0; i < tail; i++)
        worst += sorted[n - 1 - i];
    row->fps = real_or_nothing((double)((unsigned __int128)n * 1000000000) / (double)s->weight, n);
    row->stutter = real_or_nothing((double)s->jank_ns / (double)s->weight, n);
    row->fps_low_1 = real_or_nothing(1000.0 * (double)tail / worst, n);
    if (mrd__measured_get(percentile(s, sorted, 99), &p99))
        row->fps_p1 = real_or_nothing(1000.0 / p99, n);
}

static void add_rows(const mrd__session_report *r, const series_stats *s, mrd__report_view *view)
{
    size_t n = s->values.count;
    double *sorted = mrd__new_array(double, n);
    mrd__metric_row row = {.series = s->series, .readings = s->readings, .last = s->last};
    if (n > 0) memcpy(sorted, s->values.data, n * sizeof *sorted);
    mrd__sort_doubles(sorted, n);
    fill_range(s, sorted, &row);
    row.mean = mean_of(s);
    row.p50 = percentile(s, sorted, 50);
    row.p90 = percentile(s, sorted, 90);
    row.p95 = percentile(s, sorted, 95);
    row.p99 = percentile(s, sorted, 99);
    row.total =
        s->series->kind == MRD__METRIC_RATE && n > 0 ? whole((__int128)s->delta, n) : nothing();
    memcpy(row.counts, s->counts, sizeof row.counts);
    fill_shares(r, s, &row);
    mrd__vec_push(&view->metrics, row);
    if (s->is_frame_time) {
        mrd__frames_row frames;
        fill_frames(s, sorted, &frames);
        mrd__vec_push(&view->frames, frames);
    }
    mrd__free(sorted);
}

void mrd__session_report_view(const mrd__session_report *r, mrd__report_view *view)
{
    *view = (mrd__report_view){
        .definitions = MRD__DEFINITIONS,
        .envelopes = r->envelopes,
        .decode_errors = r->decode_errors,
        .samples = r->samples,
        .gaps_in_all = r->gaps_in_all,
        .launches_in_all = r->launches_in_all,
        .first_sequence = r->first_sequence,
        .last_sequence = r->last_sequence,
        .duration_ns = nothing(),
        .has_host = r->has_host,
        .first_host = r->first_host,
        .last_host = r->last_host,
        .launch_sum_ns = nothing(),
        .launch_rest_ns = nothing(),
    };
    if (r->has_host)
        view->duration_ns = whole(mrd__elapsed(r->first_host, r->last_host).ns, r->envelopes);
    if (r->has_phases) view->launch_sum_ns = whole(r->launch_sum, r->launches_in_all);
    if (r->has_phases && r->has_total)
        view->launch_rest_ns = whole(r->launch_total - r->launch_sum, r->launches_in_all);
    for (size_t i = 0; i < r->series.count; i++)
        add_rows(r, &r->series.data[i], view);
    for (size_t i = 0; i < r->launches.count; i++)
        mrd__vec_push(&view->launches, r->launches.data[i]);
    for (size_t i = 0; i < r->gaps.count; i++)
        mrd__vec_push(&view->gaps, r->gaps.data[i]);
    for (size_t i = 0; i < r->sources.count; i++)
        mrd__vec_push(&view->sources, r->sources.data[i]);
}

void mrd__report_view_reset(mrd__report_view *view)
{
    mrd__vec_reset(&view->metrics);
    mrd__vec_reset(&view->frames);
    mrd__vec_reset(&view->launches);
    mrd__vec_reset(&view->gaps);
    mrd__vec_reset(&view->sources);
}

/* ---- JSON: members in the order of their names ---- */

static void add_counts(mrd__buf *out, const uint64_t counts[MRD__QUALITIES])
{
    static const mrd__quality sorted[] = {MRD__QUALITY_COUNTER_RESET,  MRD__QUALITY_DISCONTINUITY,
                                          MRD__QUALITY_MISSING,        MRD__QUALITY_NOT_APPLICABLE,
                                          MRD__QUALITY_NOT_FOREGROUND, MRD__QUALITY_OK,
                                          MRD__QUALITY_UNSUPPORTED,    MRD__QUALITY_WARMUP};
    for (size_t i = 0; i < MRD__QUALITIES; i++)
        mrd__buf_printf(out, "%s\"%s\":%llu", i == 0 ? "{" : ",", mrd__quality_name(sorted[i]),
                        (unsigned long long)counts[sorted[i]]);
    mrd__buf_char(out, '}');
}

static void add_measured(mrd__buf *out, const char *name, mrd__measured value)
{
    mrd__buf_printf(out, ",\"%s\":", name);
    mrd__measured_json(out, value);
}

static void add_text(mrd__buf *out, const char *name, mrd__str text)
{
    mrd__buf_printf(out, ",\"%s\":", name);
    mrd__buf_json_string(out, text);
}

static void add_sequences(mrd__buf *out, const char *name, const uint64_t *list, uint64_t count)
{
    if (count > MRD__REPORT_LIST_MAX) count = MRD__REPORT_LIST_MAX;
    mrd__buf_printf(out, ",\"%s\":[", name);
    for (uint64_t i = 0; i < count; i++)
        mrd__buf_printf(out, "%s%llu", i == 0 ? "" : ",", (unsigned long long)list[i]);
    mrd__buf_char(out, ']');
}

static void add_shares(mrd__buf *out, const mrd__metric_row *row)
{
    static const mrd__quality sorted[] = {MRD__QUALITY_COUNTER_RESET,  MRD__QUALITY_DISCONTINUITY,
                                          MRD__QUALITY_MISSING,        MRD__QUALITY_NOT_APPLICABLE,
                                          MRD__QUALITY_NOT_FOREGROUND, MRD__QUALITY_OK,
                                          MRD__QUALITY_UNSUPPORTED,    MRD__QUALITY_WARMUP};
    for (size_t i = 0; i < MRD__QUALITIES; i++) {
        mrd__buf_printf(out, "%s\"%s\":", i == 0 ? "{" : ",", mrd__quality_name(sorted[i]));
        mrd__measured_json(out, row->shares[sorted[i]]);
    }
    mrd__buf_char(out, '}');
}

static void add_metric_row(mrd__buf *out, const mrd__metric_row *row)
{
    const mrd__metric *metric = mrd__registry_find(row->series->metric);
    mrd__buf_printf(
        out, "{\"count\":%llu,\"counts\":", (unsigned long long)row->counts[MRD__QUALITY_OK]);
    add_counts(out, row->counts);
    add_measured(out, "coverage", row->coverage);
    add_text(out, "evidence",
             mrd__str_of(metric != NULL ? mrd__metric_evidence_name(metric->evidence)
                                        : "declared by the source"));
    add_text(out, "key", row->series->key);
    add_text(out, "kind", mrd__str_of(mrd__metric_kind_name(row->series->kind)));
    add_measured(out, "last", row->last);
    add_measured(out, "max", row->max);
    add_measured(out, "mean", row->mean);
    add_text(out, "metric", row->series->metric);
    add_measured(out, "min", row->min);
    add_measured(out, "p50", row->p50);
    add_measured(out, "p90", row->p90);
    add_measured(out, "p95", row->p95);
    add_measured(out, "p99", row->p99);
    mrd__buf_printf(out, ",\"readings\":%llu,\"shares\":", (unsigned long long)row->readings);
    add_shares(out, row);
    add_text(out, "source", row->series->source);
    add_measured(out, "total", row->total);
    add_text(out, "unit", row->series->unit);
    add_text(out, "version", mrd__str_of(metric != NULL ? metric->definition_version : "v1"));
    mrd__buf_char(out, '}');
}

static void add_frames_row(mrd__buf *out, const mrd__frames_row *row)
{
    mrd__buf_printf(out, "{\"bigJankCount\":%llu,\"bigJankCountIf3x\":%llu",
                    (unsigned long long)row->big_janks, (unsigned long long)row->big_janks_3x);
    add_sequences(out, "bigJankSeqs", row->big_jank_sequences, row->big_janks);
    add_text(out, "definition", MRD__STR("jank.v1"));
    add_text(out, "display", row->series->key);
    add_measured(out, "fps", row->fps);
    add_measured(out, "fpsLow1Percent", row->fps_low_1);
    add_measured(out, "fpsP1", row->fps_p1);
    mrd__buf_printf(out, ",\"frames\":%llu,\"jankCount\":%llu", (unsigned long long)row->frames,
                    (unsigned long long)row->janks);
    add_sequences(out, "jankSeqs", row->jank_sequences, row->janks);
    add_text(out, "source", row->series->source);
    add_measured(out, "stutter", row->stutter);
    mrd__buf_char(out, '}');
}

static void add_launch(mrd__buf *out, const mrd__report_view *view)
{
    mrd__buf_printf(out, ",\"launch\":{\"count\":%llu,\"phases\":[",
                    (unsigned long long)view->launches_in_all);
    for (size_t i = 0; i < view->launches.count; i++) {
        const mrd__launch_row *row = &view->launches.data[i];
        mrd__buf_text(out, i == 0 ? "{\"ns\":" : ",{\"ns\":");
        mrd__measured_json(out, row->time_ns);
        add_text(out, "phase", row->phase);
        add_text(out, "quality", mrd__str_of(mrd__quality_name(row->time_ns.quality)));
        mrd__buf_printf(out, ",\"seq\":%llu}", (unsigned long long)row->sequence);
    }
    mrd__buf_char(out, ']');
    add_measured(out, "restNs", view->launch_rest_ns);
    add_measured(out, "sumNs", view->launch_sum_ns);
    mrd__buf_char(out, '}');
}

static void add_gaps(mrd__buf *out, const mrd__report_view *view)
{
    mrd__buf_text(out, ",\"gaps\":[");
    for (size_t i = 0; i < view->gaps.count; i++) {
        mrd__buf_text(out, i == 0 ? "{\"gap\":" : ",{\"gap\":");
        mrd__buf_json_string(out, view->gaps.data[i].name);
        mrd__buf_printf(out, ",\"seq\":%llu}", (unsigned long long)view->gaps.data[i].sequence);
    }
    mrd__buf_char(out, ']');
}

static void add_sources(mrd__buf *out, const mrd__report_view *view)
{
    mrd__buf_text(out, ",\"sources\":[");
    for (size_t i = 0; i < view->sources.count; i++) {
        const mrd__source_row *row = &view->sources.data[i];
        mrd__buf_printf(out, "%s{\"envelopes\":%llu,\"samples\":", i == 0 ? "" : ",",
                        (unsigned long long)row->envelopes);
        add_counts(out, row->samples);
        add_text(out, "source", row->source_id);
        mrd__buf_printf(out, ",\"stopped\":%s}", row->stopped ? "true" : "false");
    }
    mrd__buf_char(out, ']');
}

void mrd__session_report_json(const mrd__session_report *report, mrd__buf *out)
{
    mrd__report_view view;
    mrd__session_report_view(report, &view);
    mrd__buf_printf(out, "{\"decodeErrors\":%llu", (unsigned long long)view.decode_errors);
    add_text(out, "definitions", mrd__str_of(view.definitions));
    add_measured(out, "durationNs", view.duration_ns);
    mrd__buf_printf(out, ",\"envelopes\":%llu,\"firstSeq\":%llu,\"frames\":[",
                    (unsigned long long)view.envelopes, (unsigned long long)view.first_sequence);
    for (size_t i = 0; i < view.frames.count; i++) {
        if (i > 0) mrd__buf_char(out, ',');
        add_frames_row(out, &view.frames.data[i]);
    }
    mrd__buf_printf(out, "],\"gapCount\":%llu", (unsigned long long)view.gaps_in_all);
    add_gaps(out, &view);
    mrd__buf_printf(out, ",\"lastSeq\":%llu", (unsigned long long)view.last_sequence);
    add_launch(out, &view);
    mrd__buf_text(out, ",\"metrics\":[");
    for (size_t i = 0; i < view.metrics.count; i++) {
        if (i > 0) mrd__buf_char(out, ',');
        add_metric_row(out, &view.metrics.data[i]);
    }
    mrd__buf_printf(out, "],\"samples\":%llu", (unsigned long long)view.samples);
    add_sources(out, &view);
    mrd__buf_text(out, "}\n");
    mrd__report_view_reset(&view);
}
