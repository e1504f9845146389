#include "arrow/column.h"
#include "base/assert.h"

#include <string.h>

int64_t mrd__arrow_load(const char *at, size_t width, bool is_signed)
{
    uint64_t value = 0;
    memcpy(&value, at, width);
    if (!is_signed || width == 8) return (int64_t)value;
    uint64_t sign = 1ull << (8 * width - 1);
    return (int64_t)((value ^ sign) - sign);
}

static bool bit_at(const char *bits, size_t row)
{
    return (unsigned char)bits[row / 8] >> (row % 8) & 1;
}

bool mrd__arrow_is_valid(const mrd__arrow_in_column *column, size_t row)
{
    mrd__assert(row < column->rows);
    if (column->validity != NULL && !bit_at(column->validity, row)) return false;
    if (!column->field->dictionary || column->field->kind != MRD__ARROW_KIND_TEXT) return true;
    size_t index;
    return mrd__arrow_get_index(column, row, &index) && column->words.data[index].data != NULL;
}

bool mrd__arrow_get_int(const mrd__arrow_in_column *column, size_t row, int64_t *out)
{
    const mrd__arrow_in_field *field = column->field;
    if (!mrd__arrow_is_valid(column, row)) return false;
    if (field->kind == MRD__ARROW_KIND_BOOL) {
        *out = bit_at(column->data, row);
        return true;
    }
    if (field->kind != MRD__ARROW_KIND_INT && field->kind != MRD__ARROW_KIND_TIMESTAMP &&
        field->kind != MRD__ARROW_KIND_DURATION)
        return false;
    int64_t value =
        mrd__arrow_load(column->data + row * field->width, field->width, field->is_signed);
    if (!field->is_signed && value < 0) return false; /* uint64 beyond int64 */
    *out = value;
    return true;
}

bool mrd__arrow_get_double(const mrd__arrow_in_column *column, size_t row, double *out)
{
    const mrd__arrow_in_field *field = column->field;
    if (field->kind != MRD__ARROW_KIND_INT && field->kind != MRD__ARROW_KIND_FLOAT) return false;
    if (!mrd__arrow_is_valid(column, row)) return false;
    const char *at = column->data + row * field->width;
    if (field->kind == MRD__ARROW_KIND_INT) {
        int64_t value = mrd__arrow_load(at, field->width, field->is_signed);
        *out = field->is_signed ? (double)value : (double)(uint64_t)value;
        return true;
    }
    if (field->width == 8) {
        memcpy(out, at, sizeof *out);
    } else {
        float value;
        memcpy(&value, at, sizeof value);
        *out = value;
    }
    return true;
}

bool mrd__arrow_get_index(const mrd__arrow_in_column *column, size_t row, size_t *out)
{
    const mrd__arrow_in_field *field = column->field;
    mrd__assert(row < column->rows);
    if (!field->dictionary || field->kind != MRD__ARROW_KIND_TEXT) return false;
    if (column->validity != NULL && !bit_at(column->validity, row)) return false;
    *out = (size_t)mrd__arrow_load(column->data + row * field->index_width, field->index_width,
                                   field->index_signed);
    return true;
}

/* Text of a column that is not by dictionary. View: int32 size, then the text when it is at most 12
 * bytes, else 4 bytes of prefix, int32 part, int32 offset. */
static mrd__str plain_text(const mrd__arrow_in_column *column, size_t row)
{
    size_t width = column->field->width;
    if (width == MRD__ARROW_VIEW) {
        const char *view = column->data + row * MRD__ARROW_VIEW;
        size_t size = (size_t)mrd__arrow_load(view, 4, false);
        if (size <= 12) return (mrd__str){view + 4, size};
        mrd__str part = column->parts[mrd__arrow_load(view + 8, 4, false)];
        return (mrd__str){part.data + mrd__arrow_load(view + 12, 4, false), size};
    }
    int64_t from = mrd__arrow_load(column->offsets + row * width, width, true);
    int64_t to = mrd__arrow_load(column->offsets + (row + 1) * width, width, true);
    if (from == to) return (mrd__str){"", 0};
    return (mrd__str){column->bytes + from, (size_t)(to - from)};
}

bool mrd__arrow_get_text(const mrd__arrow_in_column *column, size_t row, mrd__str *out)
{
    if (column->field->kind != MRD__ARROW_KIND_TEXT || !mrd__arrow_is_valid(column, row))
        return false;
    size_t index;
    if (mrd__arrow_get_index(column, row, &index))
        *out = column->words.data[index];
    else
        *out = plain_text(column, row);
    return true;
}

/* ---- Checks before a batch is handed out ---- */

static const char *check_views(const mrd__arrow_in_column *column, size_t part_count)
{
    for (size_t row = 0; row < column->rows; row++) {
        const char *view = column->data + row * MRD__ARROW_VIEW;
        int64_t size = mrd__arrow_load(view, 4, true);
        if (column->validity != NULL && !bit_at(column->validity, row)) continue;
        if (size < 0) return "a text of negative size";
        if (size <= 12) continue;
        int64_t part = mrd__arrow_load(view + 8, 4, true);
        int64_t offset = mrd__arrow_load(view + 12, 4, true);
        if (part < 0 || (size_t)part >= part_count || offset < 0)
            return "a text outside its buffer";
        size_t room = column->parts[part].size;
        if ((size_t)offset > room || (size_t)size > room - (size_t)offset)
            return "a text outside its buffer";
    }
    return NULL;
}

static const char *check_offsets(const mrd__arrow_in_column *column, size_t byte_count)
{
    size_t width = column->field->width;
    if (column->rows == 0) return NULL;
    int64_t before = mrd__arrow_load(column->offsets, width, true);
    if (before < 0) return "text offsets that begin below 0";
    for (size_t row = 1; row <= column->rows; row++) {
        int64_t offset = mrd__arrow_load(column->offsets + row * width, width, true);
        if (offset < before) return "text offsets that descend";
        before = offset;
    }
    return (uint64_t)before > byte_count ? "text offsets beyond their buffer" : NULL;
}

static const char *check_indices(const mrd__arrow_in_column *column)
{
    for (size_t row = 0; row < column->rows; row++) {
        size_t index;
        if (mrd__arrow_get_index(column, row, &index) && index >= column->words.count)
            return "an index beyond its dictionary";
    }
    return NULL;
}

const char *mrd__arrow_check_column(const mrd__arrow_in_column *column, size_t byte_count,
                                    size_t part_count)
{
    if (column->field->kind != MRD__ARROW_KIND_TEXT) return NULL;
    if (column->field->dictionary) return check_indices(column);
    if (column->field->width == MRD__ARROW_VIEW) return check_views(column, part_count);
    return check_offsets(column, byte_count);
}
