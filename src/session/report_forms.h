/* The report for people: as text, as Markdown and as one HTML file with its plots in it. Pure
 * functions over the report's view; no number is computed here that the view does not hold.
 *
 *   samples ─▶ mrd__report_plots ─┐
 *   mrd__report_view ─────────────┼─▶ mrd__report_html
 *   mrd__report_head ─────────────┴─▶ mrd__report_text, mrd__report_markdown (no plots)
 *
 * What has no number is drawn as a gap and written as "-", with its quality beside it; never as 0.
 * Texts of sources are escaped for each form. */
#ifndef MRD_SESSION_REPORT_FORMS_H
#define MRD_SESSION_REPORT_FORMS_H

#include "session/report.h"

/* Curves that are kept for drawing; the report says how many are not drawn. With the columns below
 * that bounds memory at some 6 MB, however long the session. */
#define MRD__PLOTS_MAX 400u
/* Columns of one plot: about a pixel each. Time beyond them makes all columns twice as wide. */
#define MRD__PLOT_COLUMNS 512u

/* ---- Curves ---- */

typedef struct mrd__report_plots mrd__report_plots;

mrd__report_plots *mrd__report_plots_create(void);
void mrd__report_plots_destroy(mrd__report_plots **plots); /* accepts NULL */
/* Every sample, in the order of the session; a sample without a time of the host is not drawn.
 * Only the series' id is kept. One thread. */
void mrd__report_plots_sample(mrd__report_plots *plots, const mrd__sample *sample);

/* ---- Forms ---- */

typedef enum mrd__report_seal {
    MRD__REPORT_UNSEALED, /* being recorded, or what a crash left: never completed */
    MRD__REPORT_INCOMPLETE,
    MRD__REPORT_COMPLETED,
} mrd__report_seal;

/* A line of the head: "target", "pid 4711". */
typedef struct mrd__report_fact {
    mrd__str name, value;
} mrd__report_fact;

/* What the view does not know of the session. All is borrowed. */
typedef struct mrd__report_head {
    mrd__str session; /* its id */
    mrd__report_seal seal;
    mrd__str reasons; /* of INCOMPLETE */
    const mrd__report_fact *facts;
    size_t fact_count;
} mrd__report_head;

/* Append the whole report to out. Any thread, as long as nobody feeds. */
void mrd__report_text(const mrd__report_head *head, const mrd__report_view *view, mrd__buf *out);
void mrd__report_markdown(const mrd__report_head *head, const mrd__report_view *view,
                          mrd__buf *out);
/* One file that needs no network and runs no script. plots NULL: tables alone. */
void mrd__report_html(const mrd__report_head *head, const mrd__report_view *view,
                      const mrd__report_plots *plots, mrd__buf *out);

#endif
