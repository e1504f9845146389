/* Curves of the report. While samples come they are kept in columns of equal width on one grid for
 * all series; a column has the extremes of its values and the set of qualities in it. A time beyond
 * the grid makes each column twice as wide, and two become one: columns begin at multiples of
 * their width, so nothing is ever split, and memory does not grow with the session.
 *
 * A line joins two values only where their readings follow each other and the time between them is
 * covered; everything else is a hole, shown as such. */
#include "session/report_page.h"

#include <math.h>
#include <string.h>

typedef struct plot_column {
    double min, max, last; /* when has */
    uint8_t qualities;     /* bit set; none: no reading covers it */
    bool has, broken;      /* broken: the first value does not continue the one before */
} plot_column;

typedef struct plot {
    plot_column *columns; /* MRD__PLOT_COLUMNS of them; NULL: no sample yet */
    bool has_last, last_ok;
    int64_t last_ns;
} plot;

struct mrd__report_plots {
    MRD__VEC(plot) series; /* by id, up to MRD__PLOTS_MAX */
    bool has;
    int64_t width;  /* ns of one column */
    int64_t origin; /* index of the first column: it begins at origin * width */
};

enum {
    FIRST_WIDTH = 1 << 20, /* ns, about 1 ms */
    LEFT = 62,             /* of the drawing, in its units */
    WIDE = 580,
    TOP = 8,
    HIGH = 96,
    BAND = TOP + HIGH + 5,
    BAND_HIGH = 7,
    ALL_HIGH = BAND + BAND_HIGH + 16,
    TICKS_MAX = 7,
};

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && a < 0);
}

mrd__report_plots *mrd__report_plots_create(void)
{
    mrd__report_plots *p = mrd__new(mrd__report_plots);
    p->width = FIRST_WIDTH;
    return p;
}

void mrd__report_plots_destroy(mrd__report_plots **plots)
{
    mrd__report_plots *p = *plots;
    if (p == NULL) return;
    for (size_t i = 0; i < p->series.count; i++)
        mrd__free(p->series.data[i].columns);
    mrd__vec_reset(&p->series);
    mrd__free(p);
    *plots = NULL;
}

/* ---- Columns ---- */

static void merge_column(plot_column *into, const plot_column *from)
{
    into->qualities |= from->qualities;
    if (!from->has) return;
    if (into->has) {
        if (from->min < into->min) into->min = from->min;
        if (from->max > into->max) into->max = from->max;
        into->last = from->last;
    } else {
        uint8_t qualities = into->qualities;
        *into = *from;
        into->qualities = qualities;
    }
}

/* All columns onto a grid whose width is the old one times 2^k. */
static void move_columns(mrd__report_plots *p, int64_t width, int64_t origin)
{
    plot_column moved[MRD__PLOT_COLUMNS];
    int64_t times = width / p->width;
    for (size_t i = 0; i < p->series.count; i++) {
        plot_column *columns = p->series.data[i].columns;
        if (columns == NULL) continue;
        memset(moved, 0, sizeof moved);
        for (int64_t c = 0; c < MRD__PLOT_COLUMNS; c++) {
            if (columns[c].qualities == 0 && !columns[c].has) continue;
            merge_column(&moved[floor_div(p->origin + c, times) - origin], &columns[c]);
        }
        memcpy(columns, moved, sizeof moved);
    }
    p->width = width;
    p->origin = origin;
}

/* The last column that any series uses, as an absolute index; the grid must not be empty. */
static int64_t last_used(const mrd__report_plots *p)
{
    int64_t last = 0;
    for (size_t i = 0; i < p->series.count; i++) {
        const plot_column *columns = p->series.data[i].columns;
        for (int64_t c = MRD__PLOT_COLUMNS - 1; columns != NULL && c > last; c--)
            if (columns[c].qualities != 0) last = c;
    }
    return p->origin + last;
}

/* Make [from, to] fit. */
static void fit(mrd__report_plots *p, int64_t from, int64_t to)
{
    int64_t width = p->width, first = floor_div(from, width), last = floor_div(to, width);
    if (!p->has) {
        p->has = true;
        p->origin = first;
    }
    if (first >= p->origin && last - p->origin < MRD__PLOT_COLUMNS) return;
    int64_t end = last_used(p);
    if (p->origin < first) first = p->origin;
    if (end > last) last = end;
    while (last - first >= MRD__PLOT_COLUMNS && width <= INT64_MAX / 2) {
        width *= 2;
        first = floor_div(first, 2);
        last = floor_div(last, 2);
    }
    move_columns(p, width, first);
}

static void add_value(plot_column *column, double value, bool joined)
{
    if (!column->has) {
        *column = (plot_column){value, value, value, column->qualities, true, !joined};
        return;
    }
    if (value < column->min) column->min = value;
    if (value > column->max) column->max = value;
    column->last = value;
}

void mrd__report_plots_sample(mrd__report_plots *p, const mrd__sample *sample)
{
    double value;
    uint32_t id = sample->series->id;
    if (id >= MRD__PLOTS_MAX || (sample->flags & MRD__SAMPLE_HOST) == 0) return;
    while (p->series.count <= id)
        mrd__vec_push(&p->series, (plot){0});
    plot *s = &p->series.data[id];
    if (s->columns == NULL) s->columns = mrd__new_array(plot_column, MRD__PLOT_COLUMNS);
    int64_t to = sample->host.host_ns, from;
    if (__builtin_sub_overflow(to, sample->covered_ns, &from)) from = to;
    fit(p, from, to);
    int64_t first = floor_div(from, p->width) - p->origin;
    int64_t last = floor_div(to, p->width) - p->origin;
    for (int64_t c = first; c <= last; c++)
        s->columns[c].qualities |= (uint8_t)(1u << sample->value.quality);
    bool joined = s->has_last && s->last_ok && from <= s->last_ns;
    bool ok = mrd__measured_get(sample->value, &value);
    if (ok) add_value(&s->columns[last], value, joined);
    s->has_last = true;
    s->last_ok = ok;
    s->last_ns = to;
}

/* ---- Drawing ---- */

typedef struct axes {
    double from, to;      /* ns of the host */
    double low, high;     /* values */
    double tick;          /* of values */
    const char *unit;     /* of time: s, min, h */
    double unit_ns, step; /* step in unit */
} axes;

static double x_of(const axes *a, double ns)
{
    double x = LEFT + (ns - a->from) / (a->to - a->from) * WIDE;
    return x < LEFT ? LEFT : x > LEFT + WIDE ? LEFT + WIDE : x;
}

/* Halves: the difference of two doubles may be no double. */
static double y_of(const axes *a, double value)
{
    return TOP + HIGH - (value / 2 - a->low / 2) / (a->high / 2 - a->low / 2) * HIGH;
}

/* 1, 2 or 5 times a power of ten, so that at most `most` steps fit into the range. */
static double step_for(double range, double most)
{
    double rough = range / most, power = pow(10, floor(log10(rough)));
    double times = rough / power;
    return power * (times <= 1 ? 1 : times <= 2 ? 2 : times <= 5 ? 5 : 10);
}

static void time_axis(axes *a, const mrd__report_view *view)
{
    a->from = (double)view->first_host.host_ns;
    a->to = (double)view->last_host.host_ns;
    if (!(a->to > a->from)) a->to = a->from + 1e9;
    double seconds = (a->to - a->from) / 1e9;
    a->unit = seconds < 180 ? "s" : seconds < 10800 ? "min" : "h";
    a->unit_ns = (seconds < 180 ? 1 : seconds < 10800 ? 60 : 3600) * 1e9;
    a->step = step_for((a->to - a->from) / a->unit_ns, TICKS_MAX);
}

/* False: the curve has no value. */
static bool value_axis(axes *a, const plot_column *columns)
{
    bool has = false;
    for (size_t c = 0; c < MRD__PLOT_COLUMNS; c++) {
        if (!columns[c].has) continue;
        if (!has || columns[c].min < a->low) a->low = columns[c].min;
        if (!has || columns[c].max > a->high) a->high = columns[c].max;
        has = true;
    }
    if (!has) return false;
    if (a->low >= 0 && a->low < 0.6 * a->high) a->low = 0;
    if (!(a->high > a->low) || !(a->high - a->low > 1e-12 * fabs(a->high))) {
        double around = a->high == 0 ? 1 : fabs(a->high) * 0.1;
        a->low = a->low >= 0 && a->low < around ? 0 : a->low - around;
        a->high += around;
    }
    double range = a->high - a->low;
    if (isfinite(range)) {
        a->tick = step_for(range, 4);
        a->high = ceil(a->high / a->tick) * a->tick;
        if (a->low != 0) a->low = floor(a->low / a->tick) * a->tick;
    }
    return true;
}

static void draw_axes(mrd__buf *out, const axes *a, bool values)
{
    for (int i = 0; values && a->tick > 0 && i <= TICKS_MAX; i++) {
        double value = a->low + i * a->tick, y = y_of(a, value);
        if (y < TOP - 0.5) break;
        mrd__buf_printf(out, "<path class=\"g\" d=\"M%d %.1fh%d\"/>", LEFT, y, WIDE);
        mrd__buf_printf(out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">", LEFT - 5, y + 3);
        mrd__report_number(out, fabs(value) < a->tick * 1e-9 ? 0 : value);
        mrd__buf_text(out, "</text>");
    }
    for (int i = 0; i <= TICKS_MAX; i++) {
        double ns = a->from + i * a->step * a->unit_ns;
        if (ns > a->to) break;
        mrd__buf_printf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">", x_of(a, ns),
                        ALL_HIGH - 4);
        mrd__report_number(out, i * a->step);
        mrd__buf_printf(out, " %s</text>", a->unit);
    }
    mrd__buf_char(out, '\n');
}

static double middle_of(const mrd__report_plots *p, size_t c)
{
    return ((double)p->origin + (double)c + 0.5) * (double)p->width;
}

/* The line in its pieces: from the entry of a column over both extremes to its last value. */
static void draw_curve(mrd__buf *out, const mrd__report_plots *p, const axes *a,
                       const plot_column *columns)
{
    const plot_column *before = NULL;
    mrd__buf_text(out, "<path class=\"c\" d=\"");
    for (size_t c = 0; c < MRD__PLOT_COLUMNS; c++) {
        const plot_column *now = &columns[c];
        if (!now->has) continue;
        double x = x_of(a, middle_of(p, c));
        bool up = before == NULL || now->broken ||
                  fabs(before->last - now->min) <= fabs(before->last - now->max);
        double first = up ? now->min : now->max, second = up ? now->max : now->min;
        mrd__buf_printf(out, "%c%.1f %.1f", before == NULL || now->broken ? 'M' : 'L', x,
                        y_of(a, first));
        /* A piece of one point is a dot, by its round cap. */
        if (second != first || before == NULL || now->broken)
            mrd__buf_printf(out, "L%.1f %.1f", x, y_of(a, second));
        if (now->last != second) mrd__buf_printf(out, "L%.1f %.1f", x, y_of(a, now->last));
        before = now;
    }
    mrd__buf_text(out, "\"/>\n");
}

/* What a column is shown as: the quality that is not ok, if there is one. */
static mrd__quality quality_of(const plot_column *column)
{
    static const mrd__quality order[] = {MRD__QUALITY_COUNTER_RESET,  MRD__QUALITY_DISCONTINUITY,
                                         MRD__QUALITY_UNSUPPORTED,    MRD__QUALITY_MISSING,
                                         MRD__QUALITY_NOT_FOREGROUND, MRD__QUALITY_NOT_APPLICABLE,
                                         MRD__QUALITY_WARMUP,         MRD__QUALITY_OK};
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
        if ((column->qualities >> order[i] & 1) != 0) return order[i];
    return MRD__QUALITY_MISSING;
}

static void draw_stretch(mrd__buf *out, const axes *a, mrd__quality quality, double from, double to)
{
    double x = x_of(a, from), width = x_of(a, to) - x;
    const char *name = mrd__quality_name(quality);
    if (!(width > 0)) return;
    if (quality != MRD__QUALITY_OK)
        mrd__buf_printf(out,
                        "<rect class=\"hole\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>",
                        x, TOP, width, HIGH);
    mrd__buf_printf(out, "<rect class=\"%s\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\">",
                    name, x, BAND, width, BAND_HIGH);
    mrd__buf_printf(out, "<title>%s, ", name);
    mrd__report_number(out, round((from - a->from) / 1e6) / 1e3);
    mrd__buf_text(out, " s to ");
    mrd__report_number(out, round((to - a->from) / 1e6) / 1e3);
    mrd__buf_text(out, " s</title></rect>");
    /* Wide enough for its name: 5.5 units a letter. */
    if (quality != MRD__QUALITY_OK && width > 5.5 * (double)strlen(name) + 6)
        mrd__buf_printf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>",
                        x + width / 2, BAND - 8, name);
}

/* From the session's beginning to its end; what no reading covers is missing. */
static void draw_band(mrd__buf *out, const mrd__report_plots *p, const axes *a,
                      const plot_column *columns)
{
    double from = a->from;
    mrd__quality now = MRD__QUALITY_MISSING;
    for (size_t c = 0; c < MRD__PLOT_COLUMNS; c++) {
        double begin = middle_of(p, c) - (double)p->width / 2;
        mrd__quality quality = quality_of(&columns[c]);
        if (quality == now || begin >= a->to) continue;
        draw_stretch(out, a, now, from, begin);
        if (begin > from) from = begin;
        now = quality;
    }
    double end = middle_of(p, MRD__PLOT_COLUMNS - 1) + (double)p->width / 2;
    if (end >= a->to) {
        draw_stretch(out, a, now, from, a->to);
    } else {
        draw_stretch(out, a, now, from, end);
        draw_stretch(out, a, MRD__QUALITY_MISSING, end, a->to);
    }
    mrd__buf_char(out, '\n');
}

static void add_caption(mrd__buf *out, const mrd__metric_row *row)
{
    mrd__buf text = {0};
    double mean, p95;
    mrd__report_series_name(&text, row->series);
    mrd__buf_text(out, "<figcaption><b>");
    mrd__report_escape_html(out, (mrd__str){text.data, text.size});
    mrd__buf_text(out, "</b> ");
    mrd__report_escape_html(out, row->series->source);
    mrd__buf_text(out, " &middot; ");
    mrd__report_escape_html(out, row->series->unit);
    mrd__buf_printf(out, " &middot; %llu of %llu readings",
                    (unsigned long long)row->counts[MRD__QUALITY_OK],
                    (unsigned long long)row->readings);
    if (mrd__measured_get(row->mean, &mean)) {
        mrd__buf_text(out, " &middot; mean ");
        mrd__report_number(out, mean);
    }
    if (mrd__measured_get(row->p95, &p95)) {
        mrd__buf_text(out, " &middot; p95 ");
        mrd__report_number(out, p95);
    }
    mrd__buf_text(out, "</figcaption>\n");
    mrd__buf_reset(&text);
}

static void draw_plot(mrd__buf *out, const mrd__report_plots *p, const mrd__report_view *view,
                      const mrd__metric_row *row)
{
    axes a = {0};
    mrd__buf name = {0};
    const plot_column *columns = p->series.data[row->series->id].columns;
    time_axis(&a, view);
    bool values = value_axis(&a, columns);
    mrd__report_series_name(&name, row->series);
    mrd__buf_text(out, "<figure>\n");
    add_caption(out, row);
    mrd__buf_printf(out, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"", LEFT + WIDE + 16,
                    ALL_HIGH);
    mrd__report_escape_html(out, (mrd__str){name.data, name.size});
    mrd__buf_text(out, "\">\n");
    draw_band(out, p, &a, columns);
    draw_axes(out, &a, values);
    if (values) draw_curve(out, p, &a, columns);
    mrd__buf_text(out, "</svg>\n</figure>\n");
    mrd__buf_reset(&name);
}

static const char legend[] =
    "<svg width=\"0\" height=\"0\" style=\"position:absolute\"><defs><pattern id=\"hole\" "
    "width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">"
    "<path d=\"M0 0v6\" stroke=\"var(--line)\" stroke-width=\"2\"/></pattern></defs></svg>\n"
    "<p>Under each curve: the quality of the time. Where it is not ok there is no value, and the "
    "curve has a hole.</p>\n";

void mrd__report_plots_svg(const mrd__report_plots *p, const mrd__report_view *view, mrd__buf *out)
{
    size_t drawn = 0;
    if (!view->has_host) return;
    for (size_t i = 0; i < view->metrics.count; i++) {
        const mrd__metric_row *row = &view->metrics.data[i];
        uint32_t id = row->series->id;
        if (id >= p->series.count || p->series.data[id].columns == NULL) continue;
        if (drawn++ == 0) {
            mrd__buf_text(out, "<h2>Curves</h2>\n");
            mrd__buf_text(out, legend);
            mrd__buf_text(out, "<main class=\"p\">\n");
        }
        draw_plot(out, p, view, row);
    }
    if (drawn > 0) mrd__buf_text(out, "</main>\n");
    if (drawn < view->metrics.count)
        mrd__buf_printf(out,
                        "<p>%zu curves are not drawn (the first %u that have times are).</p>\n",
                        view->metrics.count - drawn, MRD__PLOTS_MAX);
}
