/* The parts of the report and how numbers are written in them. */
#include "session/report_page.h"

#include "session/registry.h"

#include <math.h>
#include <string.h>

/* ---- Texts ---- */

void mrd__report_plain(mrd__buf *out, mrd__str text)
{
    mrd__buf valid = {0};
    mrd__utf8_repair(&valid, text);
    for (size_t i = 0; i < valid.size; i++) {
        unsigned char c = (unsigned char)valid.data[i];
        if (c < 0x20 || c == 0x7f)
            mrd__buf_printf(out, "\\u%04X", c);
        else
            mrd__buf_char(out, (char)c);
    }
    mrd__buf_reset(&valid);
}

void mrd__report_series_name(mrd__buf *out, const mrd__series *series)
{
    mrd__buf_str(out, series->metric);
    if (series->key.size == 0) return;
    mrd__buf_text(out, " [");
    mrd__buf_str(out, series->key);
    mrd__buf_char(out, ']');
}

void mrd__report_number(mrd__buf *out, double value)
{
    double size = fabs(value);
    if (value == trunc(value) && size < 0x1p53) {
        mrd__buf_int(out, (int64_t)value);
    } else if (size >= 1e15 || size < 1e-4) {
        mrd__buf_printf(out, "%.6g", value);
    } else {
        int decimals = 5 - (int)floor(log10(size));
        mrd__buf_printf(out, "%.*f", decimals < 0 ? 0 : decimals, value);
        if (decimals <= 0) return;
        while (out->data[out->size - 1] == '0')
            out->size--;
        if (out->data[out->size - 1] == '.') out->size--;
        out->data[out->size] = '\0';
    }
}

static void add_measured(mrd__buf *out, mrd__measured measured)
{
    int64_t integer;
    double value;
    if (mrd__measured_get_integer(measured, &integer))
        mrd__buf_int(out, integer);
    else if (mrd__measured_get(measured, &value))
        mrd__report_number(out, value);
    else
        mrd__buf_char(out, '-');
}

/* Neither all nor nothing is said of what is nearly so. */
static void add_share(mrd__buf *out, mrd__measured share)
{
    double value;
    if (!mrd__measured_get(share, &value))
        mrd__buf_char(out, '-');
    else if (value > 0 && value < 0.0005)
        mrd__buf_text(out, "< 0.1 %");
    else if (value < 1 && value >= 0.9995)
        mrd__buf_text(out, "> 99.9 %");
    else
        mrd__buf_printf(out, value == 0 || value == 1 ? "%.0f %%" : "%.1f %%", value * 100);
}

static void add_ns(mrd__buf *out, mrd__measured time)
{
    double ns;
    if (!mrd__measured_get(time, &ns)) {
        mrd__buf_char(out, '-');
        return;
    }
    bool seconds = fabs(ns) >= 1e9;
    mrd__report_number(out, ns / (seconds ? 1e9 : 1e6));
    mrd__buf_text(out, seconds ? " s" : " ms");
}

/* ---- Tables ---- */

/* Moves the text into the next cell. */
static void put(mrd__report_table *table, mrd__buf *text)
{
    mrd__str cell = {mrd__arena_text(&table->texts, text->size > 0 ? text->data : "", text->size),
                     text->size};
    mrd__vec_push(&table->cells, cell);
    mrd__buf_clear(text);
}

static void put_str(mrd__report_table *table, mrd__buf *text, mrd__str value)
{
    mrd__buf_str(text, value);
    put(table, text);
}

static void put_count(mrd__report_table *table, mrd__buf *text, uint64_t count)
{
    mrd__buf_uint(text, count);
    put(table, text);
}

static void put_measured(mrd__report_table *table, mrd__buf *text, mrd__measured value)
{
    add_measured(text, value);
    put(table, text);
}

static void hand_over(mrd__report_writer *writer, const char *heading, mrd__report_table *table)
{
    if (table->cells.count > 0) {
        writer->heading(writer, heading);
        writer->table(writer, table);
    }
    mrd__vec_reset(&table->cells);
    mrd__arena_reset(&table->texts);
}

#define TABLE(names, right_)                                                                       \
    {                                                                                              \
        .columns = (names), .width = sizeof(names) / sizeof(names)[0], .right = (right_)           \
    }

static void metrics(mrd__report_writer *writer, const mrd__report_view *view, mrd__buf *text)
{
    static const char *const names[] = {"metric", "source", "unit", "count", "mean", "min",  "p50",
                                        "p90",    "p95",    "p99",  "max",   "last", "total"};
    mrd__report_table table = TABLE(names, 0x1ff8);
    for (size_t i = 0; i < view->metrics.count; i++) {
        const mrd__metric_row *row = &view->metrics.data[i];
        mrd__report_series_name(text, row->series);
        put(&table, text);
        put_str(&table, text, row->series->source);
        put_str(&table, text, row->series->unit);
        put_count(&table, text, row->counts[MRD__QUALITY_OK]);
        const mrd__measured values[] = {row->mean, row->min, row->p50,  row->p90,  row->p95,
                                        row->p99,  row->max, row->last, row->total};
        for (size_t j = 0; j < sizeof values / sizeof values[0]; j++)
            put_measured(&table, text, values[j]);
    }
    hand_over(writer, "Metrics", &table);
}

static void add_shares(mrd__buf *text, const mrd__metric_row *row)
{
    const char *between = "";
    for (size_t q = 0; q < MRD__QUALITIES; q++) {
        double share;
        if (q == MRD__QUALITY_OK || !mrd__measured_get(row->shares[q], &share) || share == 0)
            continue;
        mrd__buf_printf(text, "%s%s ", between, mrd__quality_name((mrd__quality)q));
        add_share(text, row->shares[q]);
        between = ", ";
    }
    if (between[0] == '\0') mrd__buf_char(text, '-');
}

static void add_unread(mrd__buf *text, const mrd__metric_row *row)
{
    const char *between = "";
    for (size_t q = 0; q < MRD__QUALITIES; q++) {
        if (q == MRD__QUALITY_OK || row->counts[q] == 0) continue;
        mrd__buf_printf(text, "%s%s %llu", between, mrd__quality_name((mrd__quality)q),
                        (unsigned long long)row->counts[q]);
        between = ", ";
    }
    if (between[0] == '\0') mrd__buf_char(text, '-');
}

static void qualities(mrd__report_writer *writer, const mrd__report_view *view, mrd__buf *text)
{
    static const char *const names[] = {"metric",           "source",   "coverage",
                                        "rest of the time", "readings", "readings without a number",
                                        "how calibrated"};
    mrd__report_table table = TABLE(names, 0x14);
    for (size_t i = 0; i < view->metrics.count; i++) {
        const mrd__metric_row *row = &view->metrics.data[i];
        const mrd__metric *metric = mrd__registry_find(row->series->metric);
        mrd__report_series_name(text, row->series);
        put(&table, text);
        put_str(&table, text, row->series->source);
        add_share(text, row->coverage);
        put(&table, text);
        add_shares(text, row);
        put(&table, text);
        put_count(&table, text, row->readings);
        add_unread(text, row);
        put(&table, text);
        put_str(&table, text,
                mrd__str_of(metric != NULL ? mrd__metric_evidence_name(metric->evidence)
                                           : "declared by the source"));
    }
    hand_over(writer, "Continuity and calibration", &table);
}

static void frames(mrd__report_writer *writer, const mrd__report_view *view, mrd__buf *text)
{
    static const char *const names[] = {"display",        "source",  "frames", "mean FPS",
                                        "P1 FPS",         "1 % low", "jank",   "big jank",
                                        "big jank by 3x", "stutter"};
    mrd__report_table table = TABLE(names, 0x3fc);
    for (size_t i = 0; i < view->frames.count; i++) {
        const mrd__frames_row *row = &view->frames.data[i];
        put_str(&table, text, row->series->key);
        put_str(&table, text, row->series->source);
        put_count(&table, text, row->frames);
        put_measured(&table, text, row->fps);
        put_measured(&table, text, row->fps_p1);
        put_measured(&table, text, row->fps_low_1);
        put_count(&table, text, row->janks);
        put_count(&table, text, row->big_janks);
        put_count(&table, text, row->big_janks_3x);
        add_share(text, row->stutter);
        put(&table, text);
    }
    hand_over(writer, "Frames", &table);
}

static void launch(mrd__report_writer *writer, const mrd__report_view *view, mrd__buf *text)
{
    static const char *const names[] = {"phase", "time", "quality", "sequence"};
    mrd__report_table table = TABLE(names, 0xa);
    for (size_t i = 0; i < view->launches.count; i++) {
        const mrd__launch_row *row = &view->launches.data[i];
        put_str(&table, text, row->phase);
        add_ns(text, row->time_ns);
        put(&table, text);
        put_str(&table, text, mrd__str_of(mrd__quality_name(row->time_ns.quality)));
        put_count(&table, text, row->sequence);
    }
    hand_over(writer, "Launch", &table);
    if (view->launches.count == 0) return;
    mrd__buf_text(text, "Sum of the phases: ");
    add_ns(text, view->launch_sum_ns);
    mrd__buf_text(text, "; rest of the total: ");
    add_ns(text, view->launch_rest_ns);
    if (view->launches_in_all > view->launches.count)
        mrd__buf_printf(text, "; %llu phases in all, the first ones are listed",
                        (unsigned long long)view->launches_in_all);
    writer->line(writer, (mrd__str){text->data, text->size});
    mrd__buf_clear(text);
}

static void gaps(mrd__report_writer *writer, const mrd__report_view *view, mrd__buf *text)
{
    static const char *const names[] = {"gap", "sequence"};
    mrd__report_table table = TABLE(names, 0x2);
    for (size_t i = 0; i < view->gaps.count; i++) {
        put_str(&table, text, view->gaps.data[i].name);
        put_count(&table, text, view->gaps.data[i].sequence);
    }
    hand_over(writer, "Gaps", &table);
    if (view->gaps_in_all <= view->gaps.count) return;
    mrd__buf_printf(text, "%llu gaps in all; the first %zu are listed.",
                    (unsigned long long)view->gaps_in_all, view->gaps.count);
    writer->line(writer, (mrd__str){text->data, text->size});
    mrd__buf_clear(text);
}

static void sources(mrd__report_writer *writer, const mrd__report_view *view, mrd__buf *text)
{
    static const char *const names[] = {"source", "envelopes", "samples", "of them ok", "ended"};
    mrd__report_table table = TABLE(names, 0xe);
    for (size_t i = 0; i < view->sources.count; i++) {
        const mrd__source_row *row = &view->sources.data[i];
        uint64_t samples = 0;
        for (size_t q = 0; q < MRD__QUALITIES; q++)
            samples += row->samples[q];
        put_str(&table, text, row->source_id);
        put_count(&table, text, row->envelopes);
        put_count(&table, text, samples);
        put_count(&table, text, row->samples[MRD__QUALITY_OK]);
        put_str(&table, text, mrd__str_of(row->stopped ? "by its stopped line" : "-"));
    }
    hand_over(writer, "Sources", &table);
}

/* ---- The head, with the three claims apart ---- */

static void add_fact(mrd__report_table *table, mrd__buf *text, const char *name, mrd__str value)
{
    put_str(table, text, mrd__str_of(name));
    put_str(table, text, value);
}

static void put_seal(mrd__report_table *table, mrd__buf *text, const mrd__report_head *head)
{
    put_str(table, text, MRD__STR("pipe"));
    if (head->seal == MRD__REPORT_COMPLETED) {
        mrd__buf_text(text, "sealed as completed: every line that was let in is stored");
    } else if (head->seal == MRD__REPORT_INCOMPLETE) {
        mrd__buf_text(text, "sealed as incomplete: ");
        mrd__buf_str(text, head->reasons);
    } else {
        mrd__buf_text(text, "not sealed: not completed");
    }
    put(table, text);
}

static void put_continuity(mrd__report_table *table, mrd__buf *text, const mrd__report_view *view)
{
    size_t partly = 0;
    for (size_t i = 0; i < view->metrics.count; i++) {
        double coverage;
        if (!mrd__measured_get(view->metrics.data[i].coverage, &coverage) || coverage < 1) partly++;
    }
    put_str(table, text, MRD__STR("continuity"));
    mrd__buf_printf(text, "%llu gaps, %llu lines that did not decode",
                    (unsigned long long)view->gaps_in_all, (unsigned long long)view->decode_errors);
    mrd__buf_printf(text, "; %zu of %zu metrics do not cover the whole time", partly,
                    view->metrics.count);
    put(table, text);
}

static void put_calibration(mrd__report_table *table, mrd__buf *text, const mrd__report_view *view)
{
    size_t of[3] = {0}, declared = 0;
    for (size_t i = 0; i < view->metrics.count; i++) {
        const mrd__metric *metric = mrd__registry_find(view->metrics.data[i].series->metric);
        if (metric == NULL)
            declared++;
        else
            of[metric->evidence]++;
    }
    put_str(table, text, MRD__STR("calibration"));
    for (int i = 0; i < 3; i++)
        mrd__buf_printf(text, "%zu metrics %s, ", of[i],
                        mrd__metric_evidence_name((mrd__metric_evidence)i));
    mrd__buf_printf(text, "%zu declared by their source", declared);
    put(table, text);
}

static void head_facts(mrd__report_writer *writer, const mrd__report_head *head,
                       const mrd__report_view *view, mrd__buf *text)
{
    static const char *const names[] = {"", ""};
    mrd__report_table table = TABLE(names, 0);
    for (size_t i = 0; i < head->fact_count; i++) {
        put_str(&table, text, head->facts[i].name);
        put_str(&table, text, head->facts[i].value);
    }
    put_str(&table, text, MRD__STR("duration"));
    add_ns(text, view->duration_ns);
    put(&table, text);
    put_str(&table, text, MRD__STR("raw lines"));
    mrd__buf_printf(text, "%llu", (unsigned long long)(view->envelopes + view->decode_errors));
    if (view->last_sequence > 0)
        mrd__buf_printf(text, ", sequence %llu to %llu", (unsigned long long)view->first_sequence,
                        (unsigned long long)view->last_sequence);
    put(&table, text);
    put_str(&table, text, MRD__STR("samples"));
    put_count(&table, text, view->samples);
    add_fact(&table, text, "definitions", mrd__str_of(view->definitions));
    put_seal(&table, text, head);
    put_continuity(&table, text, view);
    put_calibration(&table, text, view);
    writer->table(writer, &table);
    mrd__vec_reset(&table.cells);
    mrd__arena_reset(&table.texts);
}

void mrd__report_page(mrd__report_writer *writer, const mrd__report_head *head,
                      const mrd__report_view *view)
{
    mrd__buf text = {0};
    mrd__buf_text(&text, "Session ");
    mrd__buf_str(&text, head->session);
    writer->title(writer, (mrd__str){text.data, text.size});
    mrd__buf_clear(&text);
    head_facts(writer, head, view, &text);
    metrics(writer, view, &text);
    if (writer->plots != NULL) writer->plots(writer);
    qualities(writer, view, &text);
    frames(writer, view, &text);
    launch(writer, view, &text);
    gaps(writer, view, &text);
    sources(writer, view, &text);
    writer->line(writer, MRD__STR("\"-\" is no number: nothing was measured there. It is not 0."));
    mrd__buf_reset(&text);
}
