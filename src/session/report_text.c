/* The report as text and as Markdown. */
#include "session/report_page.h"

#include "base/assert.h"

#include <string.h>

/* ---- Text ---- */

/* Code points, as a terminal that shows one a column. */
static size_t width_of(mrd__str text)
{
    size_t width = 0;
    for (size_t i = 0; i < text.size; i++)
        width += ((unsigned char)text.data[i] & 0xc0) != 0x80;
    return width;
}

static void add_times(mrd__buf *out, char c, size_t count)
{
    for (size_t i = 0; i < count; i++)
        mrd__buf_char(out, c);
}

static void underlined(mrd__buf *out, mrd__str text, char line)
{
    size_t before = out->size;
    mrd__report_plain(out, text);
    size_t width = width_of((mrd__str){out->data + before, out->size - before});
    mrd__buf_char(out, '\n');
    add_times(out, line, width);
    mrd__buf_char(out, '\n');
}

static void text_title(mrd__report_writer *writer, mrd__str text)
{
    underlined(writer->out, text, '=');
    mrd__buf_char(writer->out, '\n');
}

static void text_heading(mrd__report_writer *writer, const char *text)
{
    mrd__buf_char(writer->out, '\n');
    underlined(writer->out, mrd__str_of(text), '-');
}

static void text_line(mrd__report_writer *writer, mrd__str text)
{
    mrd__buf_char(writer->out, '\n');
    mrd__report_plain(writer->out, text);
    mrd__buf_char(writer->out, '\n');
}

static void text_cell(mrd__buf *out, mrd__str cell, size_t width, bool right, bool last)
{
    size_t pad = width - width_of(cell);
    if (right) add_times(out, ' ', pad);
    mrd__buf_str(out, cell);
    if (!right && !last) add_times(out, ' ', pad);
    mrd__buf_text(out, last ? "\n" : "  ");
}

static void text_table(mrd__report_writer *writer, const mrd__report_table *table)
{
    mrd__assert(table->width > 0);
    size_t *widths = mrd__new_array(size_t, table->width);
    mrd__arena texts = {0};
    mrd__buf plain = {0};
    MRD__VEC(mrd__str) cells = {0};
    size_t head = table->columns[0][0] != '\0' ? table->width : 0;
    for (size_t i = 0; i < head + table->cells.count; i++) {
        mrd__buf_clear(&plain);
        mrd__report_plain(&plain,
                          i < head ? mrd__str_of(table->columns[i]) : table->cells.data[i - head]);
        mrd__str cell = {mrd__arena_text(&texts, plain.size > 0 ? plain.data : "", plain.size),
                         plain.size};
        mrd__vec_push(&cells, cell);
        size_t width = width_of(cell);
        if (width > widths[i % table->width]) widths[i % table->width] = width;
    }
    for (size_t i = 0; i < cells.count; i++) {
        size_t column = i % table->width;
        text_cell(writer->out, cells.data[i], widths[column], (table->right >> column & 1) != 0,
                  column + 1 == table->width);
    }
    mrd__vec_reset(&cells);
    mrd__buf_reset(&plain);
    mrd__arena_reset(&texts);
    mrd__free(widths);
}

void mrd__report_text(const mrd__report_head *head, const mrd__report_view *view, mrd__buf *out)
{
    mrd__report_writer writer = {out, text_title, text_heading, text_line, text_table, NULL};
    mrd__report_page(&writer, head, view);
}

/* ---- Markdown ---- */

static void add_marked(mrd__buf *out, mrd__str text)
{
    mrd__buf plain = {0};
    mrd__report_plain(&plain, text);
    for (size_t i = 0; i < plain.size; i++) {
        /* "&" and "<" would begin HTML; the rest is markup of its own. */
        if (strchr("\\`*_{}[]<>()#|&~!$", plain.data[i]) != NULL) mrd__buf_char(out, '\\');
        mrd__buf_char(out, plain.data[i]);
    }
    mrd__buf_reset(&plain);
}

static void marked_title(mrd__report_writer *writer, mrd__str text)
{
    mrd__buf_text(writer->out, "# ");
    add_marked(writer->out, text);
    mrd__buf_char(writer->out, '\n');
}

static void marked_heading(mrd__report_writer *writer, const char *text)
{
    mrd__buf_printf(writer->out, "\n## %s\n", text);
}

static void marked_line(mrd__report_writer *writer, mrd__str text)
{
    mrd__buf_char(writer->out, '\n');
    add_marked(writer->out, text);
    mrd__buf_char(writer->out, '\n');
}

static void marked_table(mrd__report_writer *writer, const mrd__report_table *table)
{
    mrd__buf *out = writer->out;
    mrd__assert(table->width > 0);
    mrd__buf_text(out, "\n|");
    for (size_t i = 0; i < table->width; i++)
        mrd__buf_printf(out, " %s |", table->columns[i]);
    mrd__buf_text(out, "\n|");
    for (size_t i = 0; i < table->width; i++)
        mrd__buf_text(out, (table->right >> i & 1) != 0 ? " ---: |" : " --- |");
    for (size_t i = 0; i < table->cells.count; i++) {
        mrd__buf_text(out, i % table->width == 0 ? "\n| " : " ");
        add_marked(out, table->cells.data[i]);
        mrd__buf_text(out, " |");
    }
    mrd__buf_char(out, '\n');
}

void mrd__report_markdown(const mrd__report_head *head, const mrd__report_view *view, mrd__buf *out)
{
    mrd__report_writer writer = {out,         marked_title, marked_heading,
                                 marked_line, marked_table, NULL};
    mrd__report_page(&writer, head, view);
}
