/* The report as one HTML file: no script, nothing from the network (its policy forbids both). */
#include "session/report_page.h"

#include "base/assert.h"

typedef struct html_writer {
    mrd__report_writer base;
    const mrd__report_view *view;
    const mrd__report_plots *plots;
} html_writer;

void mrd__report_escape_html(mrd__buf *out, mrd__str text)
{
    mrd__buf plain = {0};
    mrd__report_plain(&plain, text);
    for (size_t i = 0; i < plain.size; i++) {
        switch (plain.data[i]) {
        case '&':
            mrd__buf_text(out, "&amp;");
            break;
        case '<':
            mrd__buf_text(out, "&lt;");
            break;
        case '>':
            mrd__buf_text(out, "&gt;");
            break;
        case '"':
            mrd__buf_text(out, "&quot;");
            break;
        case '\'':
            mrd__buf_text(out, "&#39;");
            break;
        default:
            mrd__buf_char(out, plain.data[i]);
        }
    }
    mrd__buf_reset(&plain);
}

static const char style[] =
    "<style>\n"
    ":root{--bg:#fff;--bg2:#f6f7f9;--line:#dfe3e8;--ink:#1b2330;--ink2:#5b6675;--acc:#2563c9;\n"
    "--ok:#3f8f4f;--warmup:#8a94a3;--missing:#b45309;--state:#7a5ea8;--break:#b3261e}\n"
    "@media(prefers-color-scheme:dark){:root{--bg:#11151c;--bg2:#171c25;--line:#2a3240;\n"
    "--ink:#e4e9f0;--ink2:#a2adbc;--acc:#6ea3f7;--ok:#6cbf7b;--warmup:#6f7b8c;\n"
    "--missing:#e0a458;--state:#b79be6;--break:#f2887f}}\n"
    "body{margin:0 auto;padding:24px;max-width:1320px;background:var(--bg);color:var(--ink);\n"
    "font:13px/1.5 Inter,system-ui,sans-serif;font-feature-settings:\"tnum\"}\n"
    "h1{font-size:20px;font-weight:650;margin:0 0 12px}\n"
    "h2{font-size:14px;font-weight:600;margin:28px 0 8px}\n"
    "div.t{overflow-x:auto}table{border-collapse:collapse}\n"
    "th,td{padding:4px 12px;text-align:left;border-bottom:1px solid var(--line);\n"
    "vertical-align:top;white-space:nowrap}\n"
    "th{color:var(--ink2);font-weight:550}.n{text-align:right;font-family:ui-monospace,monospace}\n"
    "td.w{white-space:normal}p{color:var(--ink2)}\n"
    "main.p{display:grid;grid-template-columns:repeat(auto-fill,minmax(560px,1fr));gap:16px}\n"
    "figure{margin:0;padding:10px 12px;border:1px solid var(--line);border-radius:6px;\n"
    "background:var(--bg2)}figcaption{color:var(--ink2)}figcaption b{color:var(--ink)}\n"
    "svg{display:block;width:100%;height:auto;font:9px ui-monospace,monospace}\n"
    "svg text{fill:var(--ink2)}.c{fill:none;stroke:var(--acc);stroke-width:1.2;\n"
    "stroke-linecap:round;stroke-linejoin:round}.g{stroke:var(--line);stroke-width:.6}\n"
    ".hole{fill:url(#hole)}.ok{fill:var(--ok)}.warmup{fill:var(--warmup)}\n"
    ".missing{fill:var(--missing)}.not-foreground,.not-applicable{fill:var(--state)}\n"
    ".counter-reset,.discontinuity{fill:var(--break)}.unsupported{fill:var(--warmup)}\n"
    "</style>\n";

static void html_title(mrd__report_writer *writer, mrd__str text)
{
    mrd__buf *out = writer->out;
    mrd__buf_text(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                       "<meta http-equiv=\"Content-Security-Policy\" "
                       "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
                       "<meta name=\"viewport\" content=\"width=device-width\">\n<title>");
    mrd__report_escape_html(out, text);
    mrd__buf_text(out, "</title>\n");
    mrd__buf_text(out, style);
    mrd__buf_text(out, "</head>\n<body>\n<h1>");
    mrd__report_escape_html(out, text);
    mrd__buf_text(out, "</h1>\n");
}

static void html_heading(mrd__report_writer *writer, const char *text)
{
    mrd__buf_text(writer->out, "<h2>");
    mrd__report_escape_html(writer->out, mrd__str_of(text));
    mrd__buf_text(writer->out, "</h2>\n");
}

static void html_line(mrd__report_writer *writer, mrd__str text)
{
    mrd__buf_text(writer->out, "<p>");
    mrd__report_escape_html(writer->out, text);
    mrd__buf_text(writer->out, "</p>\n");
}

/* Cells longer than this may be broken into lines. */
enum {
    CELL_WRAPS = 60
};

static void html_table(mrd__report_writer *writer, const mrd__report_table *table)
{
    mrd__buf *out = writer->out;
    mrd__assert(table->width > 0);
    mrd__buf_text(out, "<div class=\"t\"><table>\n");
    if (table->columns[0][0] != '\0') {
        mrd__buf_text(out, "<tr>");
        for (size_t i = 0; i < table->width; i++) {
            mrd__buf_text(out, (table->right >> i & 1) != 0 ? "<th class=\"n\">" : "<th>");
            mrd__report_escape_html(out, mrd__str_of(table->columns[i]));
        }
        mrd__buf_text(out, "</tr>\n");
    }
    for (size_t i = 0; i < table->cells.count; i++) {
        size_t column = i % table->width;
        mrd__str cell = table->cells.data[i];
        if (column == 0) mrd__buf_text(out, "<tr>");
        mrd__buf_text(out, (table->right >> column & 1) != 0 ? "<td class=\"n\">"
                           : cell.size > CELL_WRAPS          ? "<td class=\"w\">"
                                                             : "<td>");
        mrd__report_escape_html(out, mrd__str_is(cell, "-") ? MRD__STR("\xe2\x80\x93") : cell);
        mrd__buf_text(out, column + 1 == table->width ? "</td></tr>\n" : "</td>");
    }
    mrd__buf_text(out, "</table></div>\n");
}

static void html_plots(mrd__report_writer *writer)
{
    html_writer *w = (html_writer *)writer;
    if (w->plots != NULL) mrd__report_plots_svg(w->plots, w->view, writer->out);
}

void mrd__report_html(const mrd__report_head *head, const mrd__report_view *view,
                      const mrd__report_plots *plots, mrd__buf *out)
{
    html_writer writer = {
        {out, html_title, html_heading, html_line, html_table, html_plots}, view, plots};
    mrd__report_page(&writer.base, head, view);
    mrd__buf_text(out, "</body>\n</html>\n");
}
