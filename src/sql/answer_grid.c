/* An aligned table for people. Widths follow from the first rows; later ones keep to them. */
#include "base/assert.h"
#include "sql/answer.h"

#include <string.h>

typedef struct cell {
    size_t at, size;  /* in text */
    uint32_t letters; /* code points */
} cell;

struct mrd__sql_grid {
    mrd__buf text;
    MRD__VEC(cell) cells;
    uint32_t *widths; /* NULL before the first rows are out */
};

static bool starts_letter(char c)
{
    return ((unsigned char)c & 0xc0) != 0x80;
}

/* The text's end: one line, at most MRD__SQL_TABLE_CELL letters. */
static void add_cell(struct mrd__sql_grid *grid, size_t from)
{
    mrd__buf *text = &grid->text;
    cell one = {.at = from};
    size_t at = from;
    for (; at < text->size; at++) {
        unsigned char c = (unsigned char)text->data[at];
        if (starts_letter((char)c)) {
            if (one.letters == MRD__SQL_TABLE_CELL) break;
            one.letters++;
        }
        if (c < 0x20 || c == 0x7f) text->data[at] = ' ';
    }
    if (at < text->size) {
        while (at > from && !starts_letter(text->data[at - 1]))
            at--;
        text->size = at - 1;
        mrd__buf_text(text, "\xe2\x80\xa6");
    }
    one.size = text->size - from;
    mrd__vec_push(&grid->cells, one);
}

void mrd__sql_grid_begin(mrd__sql_query *query)
{
    struct mrd__sql_grid *grid = mrd__new(struct mrd__sql_grid);
    query->grid = grid;
    for (size_t c = 0; c < query->width; c++) {
        size_t from = grid->text.size;
        mrd__buf_str(&grid->text, query->fields[c].name);
        add_cell(grid, from);
    }
}

static void add_spaces(mrd__buf *out, size_t count)
{
    while (count-- > 0)
        mrd__buf_char(out, ' ');
}

static bool is_number(const mrd__sql_field *field)
{
    return mrd__sql_is_whole(field->type) || field->type == DUCKDB_TYPE_DOUBLE ||
           field->type == DUCKDB_TYPE_FLOAT;
}

static void print_cell(mrd__sql_query *query, const cell *one, size_t c)
{
    mrd__buf *out = &query->out;
    uint32_t width = query->grid->widths[c];
    uint32_t pad = width > one->letters ? width - one->letters : 0;
    bool right = is_number(&query->fields[c]);
    if (c > 0) mrd__buf_text(out, "  ");
    if (right) add_spaces(out, pad);
    mrd__buf_add(out, query->grid->text.data + one->at, one->size);
    if (!right && c + 1 < query->width) add_spaces(out, pad);
}

static void find_widths(mrd__sql_query *query)
{
    struct mrd__sql_grid *grid = query->grid;
    grid->widths = mrd__new_array(uint32_t, query->width);
    for (size_t i = 0; i < grid->cells.count; i++) {
        uint32_t *width = &grid->widths[i % query->width];
        if (grid->cells.data[i].letters > *width) *width = grid->cells.data[i].letters;
    }
}

static void print_rule(mrd__sql_query *query)
{
    for (size_t c = 0; c < query->width; c++) {
        if (c > 0) mrd__buf_text(&query->out, "  ");
        for (uint32_t i = 0; i < query->grid->widths[c]; i++)
            mrd__buf_char(&query->out, '-');
    }
    mrd__buf_char(&query->out, '\n');
}

static void print_all(mrd__sql_query *query)
{
    struct mrd__sql_grid *grid = query->grid;
    bool first = grid->widths == NULL;
    if (first) find_widths(query);
    for (size_t i = 0; i < grid->cells.count; i++) {
        print_cell(query, &grid->cells.data[i], i % query->width);
        if ((i + 1) % query->width != 0) continue;
        mrd__buf_char(&query->out, '\n');
        if (first && i + 1 == query->width) print_rule(query);
    }
    grid->cells.count = grid->text.size = 0;
}

/* A plan is drawn by DuckDB: it goes out as it is. */
static void print_plan(mrd__sql_query *query, size_t rows)
{
    for (size_t i = 0; i < rows; i++) {
        mrd__sql_cell(&query->out, &query->fields[query->width - 1], i, false);
        mrd__buf_char(&query->out, '\n');
    }
}

mrd_status mrd__sql_grid_rows(mrd__sql_query *query, size_t rows, mrd_error *error)
{
    (void)error;
    struct mrd__sql_grid *grid = query->grid;
    if (query->explain) {
        print_plan(query, rows);
        return MRD_OK;
    }
    for (size_t i = 0; i < rows; i++) {
        for (size_t c = 0; c < query->width; c++) {
            size_t from = grid->text.size;
            if (mrd__sql_is_null(&query->fields[c], i))
                mrd__buf_text(&grid->text, "NULL");
            else
                mrd__sql_cell(&grid->text, &query->fields[c], i, false);
            add_cell(grid, from);
        }
    }
    if (grid->widths != NULL || query->rows >= MRD__SQL_TABLE_ROWS) print_all(query);
    return MRD_OK;
}

void mrd__sql_grid_end(mrd__sql_query *query)
{
    if (query->explain) return;
    print_all(query);
    mrd__buf_printf(&query->out, "(%llu row%s)\n", (unsigned long long)query->rows,
                    query->rows == 1 ? "" : "s");
}

void mrd__sql_grid_reset(mrd__sql_query *query)
{
    if (query->grid == NULL) return;
    mrd__buf_reset(&query->grid->text);
    mrd__vec_reset(&query->grid->cells);
    mrd__free(query->grid->widths);
    mrd__free(query->grid);
    query->grid = NULL;
}
