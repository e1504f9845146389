#include "feed.h"

#include "base/alloc.h"

#include <string.h>

static void add_record(mrd__buf *out, unsigned type, uint64_t sequence, const mrd__buf *payload)
{
    mrd__buf_printf(out, "%u %llu %zu ", type, (unsigned long long)sequence, payload->size);
    mrd__buf_add(out, payload->data, payload->size);
}

static void take_origin(void *ctx, uint64_t sequence, const mrd__origin *origin)
{
    feed *f = ctx;
    mrd__buf bytes = {0};
    mrd__origin_encode(&bytes, origin);
    add_record(&f->domain, MRD__DOMAIN_ORIGIN, sequence, &bytes);
    mrd__buf_reset(&bytes);
}

static void take_event(void *ctx, const mrd__domain_event *event)
{
    feed *f = ctx;
    mrd__buf bytes = {0};
    mrd__domain_encode(&bytes, event);
    mrd__domain_event back;
    uint32_t origin;
    mrd__str in = {bytes.data, bytes.size};
    assert_int_equal(mrd__domain_decode(&back, &origin, event->type, event->sequence, in, NULL),
                     MRD_OK);
    assert_int_equal(origin, event->origin->id);
    assert_true(mrd__str_equal(back.name, event->name));
    assert_int_equal(back.value.given, event->value.given);
    add_record(&f->domain, event->type, event->sequence, &bytes);
    mrd__buf_reset(&bytes);
}

static void take_series(void *ctx, uint64_t sequence, const mrd__series *series)
{
    feed *f = ctx;
    mrd__buf bytes = {0};
    mrd__series_encode(&bytes, series);
    add_record(&f->metrics, MRD__METRICS_SERIES, sequence, &bytes);
    mrd__session_report_series(f->report, series);
    mrd__buf_reset(&bytes);
}

static void take_sample(void *ctx, const mrd__sample *sample)
{
    feed *f = ctx;
    mrd__buf bytes = {0};
    mrd__sample_encode(&bytes, sample);
    add_record(&f->metrics, MRD__METRICS_SAMPLE, sample->sequence, &bytes);
    mrd__session_report_sample(f->report, sample);
    mrd__vec_push(&f->samples, *sample);
    mrd__buf_reset(&bytes);
}

static void take_frame(void *ctx, const mrd__frame *frame)
{
    feed *f = ctx;
    mrd__buf bytes = {0};
    mrd__frame_encode(&bytes, frame);
    add_record(&f->metrics, MRD__METRICS_FRAME, frame->sequence, &bytes);
    mrd__buf_reset(&bytes);
}

void feed_open(feed *f)
{
    *f = (feed){.projector = mrd__projector_create(), .report = mrd__session_report_create()};
}

void feed_close(feed *f)
{
    mrd__projector_destroy(&f->projector);
    for (size_t i = 0; i < f->older.count; i++)
        mrd__projector_destroy(&f->older.data[i]);
    mrd__session_report_destroy(&f->report);
    mrd__vec_reset(&f->older);
    mrd__vec_reset(&f->samples);
    mrd__buf_reset(&f->domain);
    mrd__buf_reset(&f->metrics);
    mrd__buf_reset(&f->texts);
    mrd__buf_reset(&f->binary);
}

void feed_line(feed *f, const char *line, size_t size)
{
    const mrd__session_sink sink = {f,           take_origin, take_event,
                                    take_series, take_sample, take_frame};
    mrd__envelope envelope, decoded;
    f->sequence++;
    if (mrd__envelope_from_json(&envelope, (mrd__str){line, size}, &f->texts, &f->error) !=
        MRD_OK) {
        f->decode_errors++;
        mrd__session_report_decode_error(f->report, f->sequence);
        return;
    }
    mrd__buf_clear(&f->binary);
    mrd__envelope_encode(&f->binary, &envelope);
    mrd__str in = {f->binary.data, f->binary.size};
    assert_int_equal(mrd__envelope_decode(&decoded, in, NULL), MRD_OK);
    assert_true(mrd__str_equal(decoded.bytes, (mrd__str){line, size}));
    mrd__session_report_envelope(f->report, f->sequence, &decoded);
    mrd__projector_apply(f->projector, f->sequence, &decoded, &sink);
}

void feed_text(feed *f, const char *text)
{
    while (*text != '\0') {
        size_t size = strcspn(text, "\n");
        feed_line(f, text, size);
        text += size + (text[size] == '\n');
    }
}

void feed_split(feed *f)
{
    mrd__projector *copy = mrd__projector_copy(f->projector);
    mrd__vec_push(&f->older, f->projector);
    f->projector = copy;
}

void feed_samples_text(const feed *f, mrd__buf *out)
{
    for (size_t i = 0; i < f->samples.count; i++) {
        const mrd__sample *s = &f->samples.data[i];
        mrd__buf_printf(out, "%llu ", (unsigned long long)s->sequence);
        mrd__buf_str(out, s->series->metric);
        if (s->series->key.size > 0) {
            mrd__buf_char(out, '[');
            mrd__buf_str(out, s->series->key);
            mrd__buf_char(out, ']');
        }
        mrd__buf_char(out, ' ');
        mrd__measured_json(out, s->value);
        mrd__buf_printf(out, " %s\n", mrd__quality_name(s->value.quality));
    }
}

void expect_samples(const char *text, const char *want)
{
    feed f;
    mrd__buf got = {0};
    feed_open(&f);
    feed_text(&f, text);
    mrd__buf_text(&got, "");
    feed_samples_text(&f, &got);
    assert_string_equal(got.data, want);
    assert_int_equal(f.decode_errors, 0);
    mrd__buf_reset(&got);
    feed_close(&f);
}

void add_line(mrd__buf *out, const char *source, uint64_t host_ns, const char *kind,
              const char *payload, const char *more)
{
    mrd__buf_printf(out, "{\"sourceId\":\"%s\",\"hostReceiveMonotonicNs\":%llu,\"kind\":\"%s\"",
                    source, (unsigned long long)host_ns, kind);
    mrd__buf_printf(out, ",\"payload\":%s%s}\n", payload, more);
}
