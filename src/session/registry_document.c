/* The registry as a page, and the registry's part of manifests. */
#include "session/registry.h"

#include <string.h>

static void add_breaks(mrd__buf *out, unsigned breaks)
{
    static const char *const names[] = {"counter below its anchor (counter-reset)",
                                        "dt <= 0 (discontinuity)", "foreground and background",
                                        "another display", "another timebase"};
    const char *between = "";
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        if ((breaks >> i & 1) == 0) continue;
        mrd__buf_text(out, between);
        mrd__buf_text(out, names[i]);
        between = "; ";
    }
    if (breaks == 0) mrd__buf_text(out, "none of its own");
}

static void add_row(mrd__buf *out, const char *name, const char *text)
{
    mrd__buf_printf(out, "| %s | %s |\n", name, text[0] != '\0' ? text : "nothing");
}

static void add_seconds(mrd__buf *out, const char *name, int64_t ns)
{
    mrd__buf_printf(out, "| %s | ", name);
    mrd__buf_double(out, (double)ns / 1e9);
    mrd__buf_text(out, " s |\n");
}

static void add_metric(mrd__buf *out, const mrd__metric *m)
{
    mrd__buf_printf(out, "\n### `%s` from `%s`\n\n| | |\n| --- | --- |\n", m->id, m->kind);
    add_row(out, "kind", mrd__metric_kind_name(m->type));
    add_row(out, "unit", m->unit);
    add_row(out, "scope", m->scope);
    add_row(out, "source", m->source);
    if (m->source_key[0] != '\0')
        mrd__buf_printf(out, "| payload | `%s`%s%s%s |\n", m->source_key,
                        m->divisor != NULL ? ", divided by `" : "",
                        m->divisor != NULL ? m->divisor : "", m->divisor != NULL ? "`" : "");
    add_row(out, "role", mrd__role_name(m->role));
    add_row(out, "formula", m->formula);
    if (m->window_ns > 0) add_seconds(out, "window", m->window_ns);
    if (m->freshness_ns > 0) add_seconds(out, "freshness, at least", m->freshness_ns);
    mrd__buf_text(out, "| breaks | ");
    add_breaks(out, m->breaks);
    mrd__buf_text(out, " |\n");
    add_row(out, "a true 0", m->zero_rule);
    mrd__buf_printf(
        out, "| a member that is not there | %s%s |\n",
        (m->flags & MRD__METRIC_EXPECTED) != 0 ? "missing"
                                               : "missing once it was there, else no "
                                                 "sample",
        (m->flags & MRD__METRIC_NEGATIVE_UNSUPPORTED) != 0 ? "; below 0 it is unsupported" : "");
    add_row(out, "time of the host", m->bridge != NULL ? m->bridge : "");
    add_row(out, "report", m->aggregate);
    add_row(out, "first that holds", m->order);
    mrd__buf_printf(out, "| version, status, evidence | %s, %s, %s |\n", m->definition_version,
                    mrd__metric_status_name(m->status), mrd__metric_evidence_name(m->evidence));
}

static const char head[] =
    "# Metrics\n"
    "\n"
    "This page is made from the registry (`src/session/registry.c`). Definitions:\n"
    "`" MRD__DEFINITIONS "`.\n"
    "\n"
    "A value is published only when it decoded and identity, scope, clock, window, continuity and\n"
    "run conditions hold. Otherwise the sample has no number and one of `warmup`, `missing`,\n"
    "`not-foreground`, `not-applicable`, `counter-reset`, `discontinuity`, `unsupported`.\n"
    "\n"
    "Every metric breaks where its source's clock domain or kind of timestamp, epoch, generations\n"
    "(of the connection and of the target), pid, schema or role change, and after an envelope "
    "whose\n"
    "identity is `mismatch` or `unknown` or whose role is not the metric's (both\n"
    "`not-applicable`). The reading after a break is `discontinuity`, the first of all `warmup`;\n"
    "both only set the anchor.\n"
    "\n"
    "Times are the source's own; those of a device are ticks, converted as\n"
    "`floor(difference * numer / denom)` with its own timebase, without which they are\n"
    "`unsupported`. With `clockDomain` `none` gauges and rates use the host's time of receipt; "
    "frame\n"
    "times and spans never do. A time that is not there is `missing` for a rate.\n"
    "\n"
    "A counter is a whole number from 0 to 2^64 - 1; anything else is `unsupported`, and so is a\n"
    "gauge that is no finite number.\n"
    "\n"
    "A source's gauges and counters beyond this list (`gauges`, `counters` and `units` in the\n"
    "payload of any kind) are the metrics `kind.name` and `kind.name.rate`, with the unit that it\n"
    "tells, or `raw`.\n"
    "\n"
    "Evidence says how a metric was checked: `unit-tested` by made input, `software-loop` against "
    "a\n"
    "program of known behaviour, `device` against a device. It says nothing of a session.\n";

void mrd__registry_document(mrd__buf *out)
{
    size_t count;
    const mrd__metric *rows = mrd__registry(&count);
    mrd__buf_text(out, head);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || strcmp(rows[i].kind, rows[i - 1].kind) != 0)
            mrd__buf_printf(out, "\n## Envelopes of kind `%s`\n", rows[i].kind);
        add_metric(out, &rows[i]);
    }
}

/* The next id above `after` by bytes; NULL: there is none. Quadratic, over some 90 rows. */
static const mrd__metric *next_row(const char *after)
{
    size_t count;
    const mrd__metric *rows = mrd__registry(&count), *best = NULL;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rows[i].id, after) > 0 && (best == NULL || strcmp(rows[i].id, best->id) < 0))
            best = &rows[i];
    }
    return best;
}

void mrd__registry_versions(mrd__buf *out)
{
    mrd__buf_text(out, "{\"definitions\":\"" MRD__DEFINITIONS "\",\"metrics\":{");
    const char *between = "";
    for (const mrd__metric *m = next_row(""); m != NULL; m = next_row(m->id)) {
        mrd__buf_printf(out, "%s\"%s\":\"%s\"", between, m->id, m->definition_version);
        between = ",";
    }
    mrd__buf_text(out, "}}");
}
