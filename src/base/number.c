/* Numbers to and from decimal text.
 *
 * Reading: a decimal of at most 15 digits (as an integer m < 10^15) times 10^e with |e| <= 22 is
 * one correctly rounded operation on two exact doubles; everything else goes to strtod, which
 * glibc rounds correctly and which sees the C locale (the program never calls setlocale).
 *
 * Writing: decimals of up to 15 digits and doubles map one to one, so when m / 10^k == value for
 * an integer m < 10^15, m with its trailing zeros dropped is the shortest form. The rest tries 15,
 * 16 and 17 digits. The text is laid out as JavaScript does it (1e21 and 1e-7 are the borders of
 * the exponent form), but -0 keeps its sign. */
#include "base/alloc.h"
#include "base/assert.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* ---- Writing ---- */

static size_t digits_of(uint64_t value, char out[20])
{
    char reversed[20];
    size_t count = 0;
    do {
        reversed[count++] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    for (size_t i = 0; i < count; i++)
        out[i] = reversed[count - 1 - i];
    return count;
}

void mrd__buf_uint(mrd__buf *buf, uint64_t value)
{
    char digits[20];
    mrd__buf_add(buf, digits, digits_of(value, digits));
}

void mrd__buf_int(mrd__buf *buf, int64_t value)
{
    char digits[21] = "-";
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    size_t count = digits_of(magnitude, digits + 1);
    if (value < 0)
        mrd__buf_add(buf, digits, count + 1);
    else
        mrd__buf_add(buf, digits + 1, count);
}

/* digits d1d2...dn mean 0.d1d2...dn * 10^point */
static void lay_out(mrd__buf *buf, const char *digits, int count, int point)
{
    if (point > 0 && point <= 21) {
        int whole = count < point ? count : point;
        mrd__buf_add(buf, digits, (size_t)whole);
        for (int i = whole; i < point; i++)
            mrd__buf_char(buf, '0');
        if (count > point) {
            mrd__buf_char(buf, '.');
            mrd__buf_add(buf, digits + point, (size_t)(count - point));
        }
    } else if (point <= 0 && point > -6) {
        mrd__buf_text(buf, "0.");
        for (int i = point; i < 0; i++)
            mrd__buf_char(buf, '0');
        mrd__buf_add(buf, digits, (size_t)count);
    } else {
        mrd__buf_char(buf, digits[0]);
        if (count > 1) {
            mrd__buf_char(buf, '.');
            mrd__buf_add(buf, digits + 1, (size_t)count - 1);
        }
        mrd__buf_char(buf, 'e');
        mrd__buf_char(buf, point - 1 < 0 ? '-' : '+');
        mrd__buf_int(buf, point - 1 < 0 ? 1 - point : point - 1);
    }
}

/* value > 0. True when it is m / 10^k with m < 10^15 and k one of 3, 6, 9. */
static bool short_fraction(mrd__buf *buf, double value)
{
    for (int k = 3; k <= 9; k += 3) {
        double scaled = value * powers[k];
        if (scaled >= 1e15 || scaled < 1) continue;
        uint64_t m = (uint64_t)(scaled + 0.5);
        if (m >= 1000000000000000ull || (double)m / powers[k] != value) continue;
        char digits[20];
        int all = (int)digits_of(m, digits);
        int count = all;
        while (count > 1 && digits[count - 1] == '0')
            count--;
        lay_out(buf, digits, count, all - k);
        return true;
    }
    return false;
}

/* The lower neighbour of a power of two is nearer than the upper one, so the nearest 16 digits may
 * fall outside where the next 16 digits above still read back (2^-44 is such a value). */
static bool next_digits_up(char *text, int precision, double value)
{
    for (int i = precision; i >= 0; i--) {
        if (text[i] == '.') continue;
        if (text[i] < '9') {
            text[i]++;
            return strtod(text, NULL) == value;
        }
        text[i] = '0';
    }
    return false; /* 9.99e5 would become 10e5: that is fewer digits and was tried before */
}

static void general_double(mrd__buf *buf, double value)
{
    char text[32];
    int precision = value < 0x1p-1022 ? 1 : 15; /* subnormals carry fewer digits */
    for (; precision <= 17; precision++) {
        snprintf(text, sizeof text, "%.*e", precision - 1, value);
        if (precision == 17 || strtod(text, NULL) == value) break;
        if (precision == 16 && next_digits_up(text, precision, value)) break;
    }
    char digits[20];
    int count = 0;
    const char *at = text;
    for (; *at != 'e'; at++) {
        if (*at != '.') digits[count++] = *at;
    }
    while (count > 1 && digits[count - 1] == '0')
        count--;
    lay_out(buf, digits, count, (int)strtol(at + 1, NULL, 10) + 1);
}

void mrd__buf_double(mrd__buf *buf, double value)
{
    if (isnan(value)) {
        mrd__buf_text(buf, "NaN");
        return;
    }
    if (signbit(value)) {
        mrd__buf_char(buf, '-');
        value = -value;
    }
    if (isinf(value))
        mrd__buf_text(buf, "Infinity");
    else if (value <= 0x1p53 && value == (double)(uint64_t)value)
        mrd__buf_uint(buf, (uint64_t)value);
    else if (!short_fraction(buf, value))
        general_double(buf, value);
}

void mrd__buf_json_double(mrd__buf *buf, double value)
{
    bool quoted = !isfinite(value);
    if (quoted) mrd__buf_char(buf, '"');
    mrd__buf_double(buf, value);
    if (quoted) mrd__buf_char(buf, '"');
}

void mrd__buf_json_real(mrd__buf *buf, double value)
{
    size_t before = buf->size;
    mrd__buf_json_double(buf, value);
    for (size_t i = before; i < buf->size; i++) {
        char c = buf->data[i];
        if (c == '.' || c == 'e' || c == '"') return;
    }
    mrd__buf_text(buf, ".0");
}

/* ---- Reading ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

typedef struct decimal {
    uint64_t mantissa; /* of the first 15 significant digits */
    int significant;   /* how many there are in all, capped */
    int64_t exponent;  /* of the mantissa's last digit */
    bool negative;
} decimal;

static void take_digit(decimal *d, char c, bool fraction)
{
    if (d->significant == 0 && c == '0') {
        d->exponent -= fraction;
        return;
    }
    if (d->significant < 16) d->significant++;
    if (d->significant <= 15) {
        d->mantissa = d->mantissa * 10 + (uint64_t)(c - '0');
        d->exponent -= fraction;
    }
}

/* The exponent part after 'e'; false when it has no digit or something follows. */
static bool scan_exponent(mrd__str text, size_t at, int64_t *out)
{
    bool minus = at < text.size && text.data[at] == '-';
    if (at < text.size && (minus || text.data[at] == '+')) at++;
    if (at == text.size) return false;
    int64_t value = 0;
    for (; at < text.size; at++) {
        if (!is_digit(text.data[at])) return false;
        if (value < 1000000) value = value * 10 + (text.data[at] - '0');
    }
    *out = minus ? -value : value;
    return true;
}

static bool scan_decimal(mrd__str text, decimal *d)
{
    size_t at = 0;
    if (at < text.size && (text.data[at] == '+' || text.data[at] == '-'))
        d->negative = text.data[at++] == '-';
    size_t digits = 0;
    for (; at < text.size && is_digit(text.data[at]); at++, digits++)
        take_digit(d, text.data[at], false);
    if (at < text.size && text.data[at] == '.') {
        at++;
        for (; at < text.size && is_digit(text.data[at]); at++, digits++)
            take_digit(d, text.data[at], true);
    }
    if (digits == 0) return false;
    if (at < text.size && (text.data[at] == 'e' || text.data[at] == 'E')) {
        int64_t exponent;
        if (!scan_exponent(text, at + 1, &exponent)) return false;
        d->exponent += exponent;
        return true;
    }
    return at == text.size;
}

static double slow_double(mrd__str text)
{
    char small[128]; /* longer than any sensible number; more goes to the heap */
    char *copy = text.size < sizeof small ? small : mrd__alloc(text.size + 1);
    memcpy(copy, text.data, text.size);
    copy[text.size] = '\0';
    double value = strtod(copy, NULL);
    if (copy != small) mrd__free(copy);
    return value;
}

bool mrd__parse_double(mrd__str text, double *out)
{
    decimal d = {0};
    if (!scan_decimal(text, &d)) return false;
    if (d.significant <= 15 && d.exponent >= -22 && d.exponent <= 22) {
        double value = (double)d.mantissa;
        value = d.exponent < 0 ? value / powers[-d.exponent] : value * powers[d.exponent];
        *out = d.negative ? -value : value;
        return true;
    }
    double value = slow_double(text);
    if (!isfinite(value)) return false;
    *out = value;
    return true;
}

bool mrd__parse_uint64(mrd__str text, uint64_t *out)
{
    uint64_t value = 0;
    if (text.size == 0) return false;
    for (size_t i = 0; i < text.size; i++) {
        if (!is_digit(text.data[i]) || __builtin_mul_overflow(value, 10u, &value) ||
            __builtin_add_overflow(value, (uint64_t)(text.data[i] - '0'), &value))
            return false;
    }
    *out = value;
    return true;
}

bool mrd__parse_int64(mrd__str text, int64_t *out)
{
    bool negative = text.size > 0 && text.data[0] == '-';
    bool sign = negative || (text.size > 0 && text.data[0] == '+');
    uint64_t magnitude;
    if (text.size == 0) return false;
    if (!mrd__parse_uint64((mrd__str){text.data + sign, text.size - sign}, &magnitude))
        return false;
    if (magnitude > (uint64_t)INT64_MAX + negative) return false;
    *out = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    return true;
}
