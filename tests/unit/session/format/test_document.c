/* docs/session-format.md says what the code does: types, codes, sizes, and an example's bytes. */
#include "session/format/broken.h"
#include "session/format/domain.h"
#include "session/format/envelope.h"
#include "session/format/record.h"
#include "session/format/sample.h"
#include "unit.h"

#include "base/os.h"

#include <stdio.h>
#include <string.h>

#define PAGE MRD_SOURCE_DIR "/docs/session-format.md"

static mrd__buf page;

static int read_page(void **state)
{
    (void)state;
    mrd_error error = {0};
    return mrd__file_read(&page, PAGE, 1 << 20, &error) == MRD_OK ? 0 : -1;
}

static int drop_page(void **state)
{
    (void)state;
    mrd__buf_reset(&page);
    return 0;
}

/* The part of the page from a heading to the next one. */
static mrd__str part(const char *heading)
{
    const char *from = strstr(page.data, heading);
    if (from == NULL) fail_msg("%s: no heading %s", PAGE, heading);
    const char *to = strstr(from + strlen(heading), "\n##");
    return (mrd__str){from, to == NULL ? strlen(from) : (size_t)(to - from)};
}

static void says(mrd__str where, const char *text)
{
    if (memmem(where.data, where.size, text, strlen(text)) == NULL)
        fail_msg("%s does not say \"%s\" in \"%.40s\"", PAGE, text, where.data);
}

static void says_row(mrd__str where, unsigned number, const char *name)
{
    char row[80];
    snprintf(row, sizeof row, "\n| %u | `%s` |", number, name);
    says(where, row);
}

static size_t rows(mrd__str where)
{
    size_t count = 0;
    for (size_t i = 0; i + 3 < where.size; i++)
        if (memcmp(where.data + i, "\n| ", 3) == 0 && where.data[i + 3] >= '0' &&
            where.data[i + 3] <= '9')
            count++;
    return count;
}

static void test_types(void **state)
{
    (void)state;
    mrd__str raw = part("### Types of raw records");
    for (unsigned type = 1; type < MRD__RECORD_RAW_TYPES; type++)
        says_row(raw, type, mrd__record_type_name(type));
    mrd__str domain = part("### Types of domain.mrl");
    for (unsigned type = 0; type < MRD__DOMAIN_TYPES; type++)
        says_row(domain, MRD__RECORD_DERIVED + type, mrd__domain_type_names[type]);
    assert_int_equal(rows(domain), MRD__DOMAIN_TYPES);
    mrd__str metrics = part("### Types of metrics.mrl");
    for (unsigned type = 0; type < MRD__METRICS_TYPES; type++)
        says_row(metrics, MRD__RECORD_DERIVED + type, mrd__metrics_type_names[type]);
    for (unsigned quality = 0; quality < MRD__QUALITIES; quality++)
        says_row(metrics, quality, mrd__quality_name(quality));
    assert_int_equal(rows(metrics), MRD__METRICS_TYPES + MRD__QUALITIES);
}

static void test_sizes(void **state)
{
    (void)state;
    char text[96];
    snprintf(text, sizeof text, "### Segment header, %d bytes", MRD__SEGMENT_HEAD);
    says_row(part(text), MRD__FILE_RAW, "raw/*.mrl");
    says_row(part(text), MRD__FILE_DOMAIN, "domain.mrl");
    says_row(part(text), MRD__FILE_METRICS, "metrics.mrl");
    snprintf(text, sizeof text, "### Record header, %d bytes", MRD__RECORD_HEAD);
    mrd__str record = part(text);
    snprintf(text, sizeof text, "at most %zu |", MRD__RECORD_PAYLOAD_MAX);
    says(record, text);
    mrd__str raw = part("### Types of raw records");
    snprintf(text, sizeof text, "log writer, %d bytes", MRD__GAP_PAYLOAD);
    says(raw, text);
    snprintf(text, sizeof text, "**Checkpoint**, %d bytes", MRD__CHECKPOINT_PAYLOAD);
    says(raw, text);
    snprintf(text, sizeof text, "**Envelope**, %d bytes", MRD__ENVELOPE_HEAD);
    says(raw, text);
    snprintf(text, sizeof text, "no envelope**, %d bytes", MRD__BROKEN_HEAD);
    says(raw, text);
}

/* The example, made here. */
static void test_example(void **state)
{
    (void)state;
    mrd__buf file = {0};
    mrd__buf hex = {0};
    uint8_t head[MRD__SEGMENT_HEAD];
    mrd__segment_head segment = {.kind = MRD__FILE_RAW, .index = 1, .first_sequence = 1};
    memcpy(segment.uuid, "0123456789abcdef", 16);
    uint32_t chain = mrd__segment_head_write(&segment, head);
    mrd__buf_add(&file, head, sizeof head);
    mrd__str hello = MRD__STR("hello");
    (void)mrd__record_append(&file, MRD__RECORD_RAW, MRD__FLAG_SYNCED, 1, &hello, 1, chain);
    static const size_t lines[] = {32, 32, 24, 8, 8};
    size_t at = 0;
    for (size_t line = 0; line < 5; line++) {
        for (size_t i = 0; i < lines[line]; i++)
            mrd__buf_printf(&hex, "%02x", (unsigned char)file.data[at++]);
        mrd__buf_char(&hex, '\n');
    }
    assert_int_equal(at, file.size);
    says(part("### Record header"), hex.data);
    mrd__buf_reset(&hex);
    mrd__buf_reset(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_example),
    };
    return cmocka_run_group_tests(tests, read_page, drop_page);
}
