/* What all forms of the report have in common: its parts, in order, handed to a writer. */
#ifndef MRD_SESSION_REPORT_PAGE_H
#define MRD_SESSION_REPORT_PAGE_H

#include "session/report_forms.h"

/* A table of texts, row by row. Cells are not escaped yet. */
typedef struct mrd__report_table {
    const char *const *columns;
    size_t width;
    uint32_t right; /* bit i: column i holds numbers */
    MRD__VEC(mrd__str) cells;
    mrd__arena texts;
} mrd__report_table;

typedef struct mrd__report_writer mrd__report_writer;
/* All texts are borrowed and unescaped. */
struct mrd__report_writer {
    mrd__buf *out;
    void (*title)(mrd__report_writer *writer, mrd__str text);
    void (*heading)(mrd__report_writer *writer, const char *text);
    void (*line)(mrd__report_writer *writer, mrd__str text);
    void (*table)(mrd__report_writer *writer, const mrd__report_table *table);
    void (*plots)(mrd__report_writer *writer); /* where they belong; NULL: none */
};

/* Hand over all parts of the report. */
void mrd__report_page(mrd__report_writer *writer, const mrd__report_head *head,
                      const mrd__report_view *view);

/* "proc.cpu" or "proc.cpu [key]"; unescaped. */
void mrd__report_series_name(mrd__buf *out, const mrd__series *series);
/* Up to six significant digits, integers in full. */
void mrd__report_number(mrd__buf *out, double value);
/* Valid UTF-8 without control characters, which become \u00XX: the first step of each escaping. */
void mrd__report_plain(mrd__buf *out, mrd__str text);
/* For HTML and SVG, in text and in attributes. */
void mrd__report_escape_html(mrd__buf *out, mrd__str text);

/* All plots as SVG inside figures. */
void mrd__report_plots_svg(const mrd__report_plots *plots, const mrd__report_view *view,
                           mrd__buf *out);

#endif
