/* Sessions: recording, ingest, recovery, verification, replay, report. */
#include "session/session.h"
#include "base/assert.h"
#include "base/error.h"
#include "session/record.h"

mrd_status mrd_session_record(const mrd_record_options *options, mrd_record_result *result,
                              mrd_error *error)
{
    mrd__assert(options != NULL && options->dir != NULL && result != NULL);
    mrd__assert(options->every_ns > 0 && options->publish_ns > 0);
    return mrd__session_record(options, result, error);
}

mrd_status mrd_session_ingest(const char *input, const char *dir, mrd_record_result *result,
                              mrd_error *error)
{
    mrd__assert(input != NULL && dir != NULL && result != NULL);
    return mrd__session_ingest(input, dir, result, error);
}

/* ---- What was found ---- */

static mrd_status send(mrd__buf *text, mrd_status status, const mrd_sink *sink, mrd_error *error)
{
    if (status == MRD_OK) status = mrd__buf_flush(text, sink, error);
    mrd__buf_reset(text);
    return status;
}

mrd_status mrd_session_recover(const char *dir, mrd_format format, const mrd_sink *sink,
                               mrd_error *error)
{
    mrd__assert(dir != NULL && sink != NULL);
    mrd__buf text = {0};
    mrd_status status = mrd__session_tell_recover(dir, format == MRD_FORMAT_JSON, &text, error);
    return send(&text, status, sink, error);
}

mrd_status mrd_session_verify(const char *dir, mrd_format format, const mrd_sink *sink, bool *sound,
                              mrd_error *error)
{
    mrd__assert(dir != NULL && sink != NULL && sound != NULL);
    mrd__buf text = {0};
    mrd_status status =
        mrd__session_tell_verify(dir, format == MRD_FORMAT_JSON, &text, sound, error);
    return send(&text, status, sink, error);
}

mrd_status mrd_session_replay(const char *dir, mrd_format format, const mrd_sink *sink, bool *equal,
                              mrd_error *error)
{
    mrd__assert(dir != NULL && sink != NULL && equal != NULL);
    mrd__buf text = {0};
    mrd_status status =
        mrd__session_tell_replay(dir, format == MRD_FORMAT_JSON, &text, equal, error);
    return send(&text, status, sink, error);
}

mrd_status mrd_session_report(const char *dir, mrd_report_form form, const mrd_sink *sink,
                              mrd_error *error)
{
    mrd__assert(dir != NULL && sink != NULL);
    mrd__buf text = {0};
    return send(&text, mrd__session_tell_report(dir, form, &text, error), sink, error);
}

mrd_status mrd_session_info(const char *dir, const mrd_sink *sink, mrd_error *error)
{
    mrd__assert(dir != NULL && sink != NULL);
    mrd__buf text = {0};
    return send(&text, mrd__session_tell_info(dir, true, &text, error), sink, error);
}

mrd_status mrd_session_list(const char *folder, const mrd_sink *sink, mrd_error *error)
{
    mrd__assert(folder != NULL && sink != NULL);
    mrd__buf text = {0};
    return send(&text, mrd__session_tell_list(folder, &text, error), sink, error);
}

mrd_status mrd_session_raw(const char *dir, uint64_t sequence, mrd_format format,
                           const mrd_sink *sink, mrd_error *error)
{
    mrd__assert(dir != NULL && sink != NULL);
    mrd__buf text = {0};
    mrd_status status =
        mrd__session_tell_raw(dir, sequence, format == MRD_FORMAT_JSON, &text, error);
    return send(&text, status, sink, error);
}
