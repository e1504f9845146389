/* Decimal text to integers without a double in between.
 *
 * The value is 0.d1d2d3... * 10^point over its significant digits; its whole part is the first
 * `point` digits (zeros where there are fewer) and the digit behind them rounds. A whole part of
 * at most 19 digits fits 64 unsigned bits, so nothing overflows before it is seen. */
#include "ingest/chrome_json/event.h"

enum {
    QUICK_SIZE = 21,
    MAX_WHOLE_DIGITS = 19,
    MAX_EXPONENT = 1000000000
};

typedef struct decimal {
    mrd__str digits; /* from the first digit or point to the last */
    int64_t point;   /* digits of the whole part, counted from the first significant one */
    bool negative, zero;
} decimal;

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The exponent's text behind the 'e'. */
static bool scan_exponent(mrd__str text, size_t at, int64_t *out)
{
    bool minus = at < text.size && text.data[at] == '-';
    if (at < text.size && (minus || text.data[at] == '+')) at++;
    if (at == text.size) return false;
    int64_t value = 0;
    for (; at < text.size; at++) {
        if (!is_digit(text.data[at])) return false;
        if (value < MAX_EXPONENT) value = value * 10 + (text.data[at] - '0');
    }
    *out = minus ? -value : value;
    return true;
}

static bool scan(mrd__str text, decimal *d)
{
    size_t at = 0;
    if (at < text.size && (text.data[at] == '+' || text.data[at] == '-'))
        d->negative = text.data[at++] == '-';
    size_t first = at, count = 0;
    bool fraction = false;
    d->zero = true;
    for (; at < text.size; at++) {
        char c = text.data[at];
        if (c == '.' && !fraction) {
            fraction = true;
            continue;
        }
        if (!is_digit(c)) break;
        count++;
        if (d->zero && c == '0')
            d->point -= fraction;
        else {
            d->zero = false;
            d->point += !fraction;
        }
    }
    if (count == 0) return false;
    d->digits = (mrd__str){text.data + first, at - first};
    if (at == text.size) return true;
    int64_t exponent;
    if ((text.data[at] != 'e' && text.data[at] != 'E') || !scan_exponent(text, at + 1, &exponent))
        return false;
    d->point += exponent;
    return true;
}

/* The first `point` significant digits as a number; *next is the digit behind them. */
static uint64_t whole_part(const decimal *d, int64_t point, int *next)
{
    uint64_t value = 0;
    int64_t taken = 0;
    bool leading = true;
    *next = 0;
    for (size_t i = 0; i < d->digits.size; i++) {
        char c = d->digits.data[i];
        if (c == '.' || (leading && c == '0')) continue;
        leading = false;
        if (taken == point) {
            *next = c - '0';
            return value;
        }
        value = value * 10 + (uint64_t)(c - '0');
        taken++;
    }
    for (; taken < point; taken++)
        value *= 10;
    return value;
}

/* Digits, a whole part below 9 * 10^15 (it leaves room for 10^3) and at most `shift` digits behind
 * the point: what files are full of. */
static inline bool quick(mrd__str text, int shift, int64_t *out)
{
    const char *p = text.data, *end = text.data + text.size;
    bool negative = p < end && *p == '-';
    p += negative;
    const char *first = p;
    uint64_t value = 0;
    while (p < end && is_digit(*p))
        value = value * 10 + (uint64_t)(*p++ - '0');
    if (p == first || p - first > 16 || value >= 9000000000000000u) return false;
    if (p < end) {
        if (*p++ != '.') return false;
        for (; p < end && is_digit(*p) && shift > 0; shift--)
            value = value * 10 + (uint64_t)(*p++ - '0');
        if (p < end) return false;
    }
    for (; shift > 0; shift--)
        value *= 10;
    *out = negative ? -(int64_t)value : (int64_t)value;
    return true;
}

static mrd__cj_number convert(mrd__str text, int shift, bool round, int64_t *out)
{
    if (text.size <= QUICK_SIZE && quick(text, shift, out)) return MRD__CJ_EXACT;
    decimal d = {0};
    if (!scan(text, &d)) return MRD__CJ_NOT_A_NUMBER;
    int64_t point = d.point + shift;
    if (d.zero || point < 0) {
        *out = 0;
        return MRD__CJ_EXACT;
    }
    if (point > MAX_WHOLE_DIGITS) return MRD__CJ_OVERFLOW;
    int next;
    uint64_t value = whole_part(&d, point, &next);
    if (round && next >= 5) value++;
    if (value > (uint64_t)INT64_MAX + d.negative) return MRD__CJ_OVERFLOW;
    *out = d.negative ? (int64_t)(0 - value) : (int64_t)value;
    return MRD__CJ_EXACT;
}

mrd__cj_number mrd__cj_decimal(mrd__str text, int shift, int64_t *out)
{
    return convert(text, shift, true, out);
}

mrd__cj_number mrd__cj_whole(mrd__str text, int64_t *out)
{
    return convert(text, 0, false, out);
}
