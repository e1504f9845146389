#include "base/error.h"
#include "base/os.h"
#include "session/live.h"
#include "session/record.h"
#include "session/sources/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum {
    PIECE = 256 << 10 /* read at once: stays in the second cache until it is taken in */
};

typedef struct ingest {
    mrd__live live;
    uint64_t lines;
    bool stopped;
    mrd_status status;
    mrd_error error;
} ingest;

static bool take(void *ctx, const mrd__line *line)
{
    ingest *in = ctx;
    if (line->size == 0) return true; /* an empty line says nothing */
    mrd__encoded encoded = {0};
    in->lines++;
    in->status =
        mrd__live_line(&in->live, line->bytes, line->size, line->ended, NULL, &encoded, &in->error);
    /* Adapters that a recording holds side by side each stop for themselves: the last line counts.
     */
    in->stopped = encoded.stopped;
    return in->status == MRD_OK;
}

static mrd_status feed(ingest *in, int fd, const char *path, mrd__lines *lines, char *piece,
                       mrd_error *error)
{
    for (;;) {
        ssize_t got = read(fd, piece, PIECE);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return mrd__fail_errno(error, path, "cannot read");
        bool more = got > 0 ? mrd__lines_feed(lines, piece, (size_t)got, take, in)
                            : mrd__lines_end(lines, take, in);
        /* The next piece may be long in coming. */
        if (more) in->status = mrd__live_flush(&in->live, &in->error);
        if (in->status != MRD_OK && error != NULL) *error = in->error;
        if (in->status != MRD_OK) return in->status;
        if (got == 0) return MRD_OK;
    }
}

static mrd_status read_all(ingest *in, int fd, const char *path, mrd_error *error)
{
    mrd__lines lines;
    mrd__lines_init(&lines, MRD__ENVELOPE_LINE_MAX);
    char *piece = mrd__alloc(PIECE);
    mrd_status status = feed(in, fd, path, &lines, piece, error);
    mrd__free(piece);
    mrd__lines_reset(&lines);
    return status;
}

static mrd_status finish(ingest *in, mrd_record_result *result, mrd_error *error)
{
    if (!in->stopped)
        MRD__TRY(mrd__live_note(&in->live, MRD__RECORD_GAP,
                                MRD__STR("{\"gap\":\"stop-missing\",\"adapter\":0}"), error));
    MRD__TRY(mrd__live_flush(&in->live, error));
    mrd__recording_state state;
    mrd__recording_state_get(in->live.recording, &state);
    mrd__engine_counts counts = mrd__engine_counted(in->live.engine);
    mrd__buf json = {0};
    mrd__buf_printf(&json, "{\"event\":\"end\",\"why\":\"input-ended\",\"lines\":%llu}",
                    (unsigned long long)in->lines);
    mrd_status status =
        mrd__live_finish(&in->live, (mrd__str){json.data, json.size}, &result->completed, error);
    mrd__buf_reset(&json);
    result->events = state.reserved;
    result->samples = counts.samples;
    result->decode_errors = counts.decode_errors;
    result->gaps = counts.gaps;
    result->beyond_limit = counts.beyond_limit;
    return status;
}

static mrd_status ingest_fd(int fd, const char *path, const char *dir, mrd_record_result *result,
                            mrd_error *error)
{
    ingest in = {0};
    mrd__buf target = {0};
    const char *slash = strrchr(path, '/');
    mrd__buf_text(&target, "{\"ingest\":");
    mrd__buf_json_string(&target, mrd__str_of(slash != NULL ? slash + 1 : path));
    mrd__buf_char(&target, '}');
    mrd_status status =
        mrd__live_create(&in.live, dir, (mrd__str){target.data, target.size}, error);
    mrd__buf_reset(&target);
    if (status != MRD_OK) return status;
    in.live.wait_ns = MRD__LIVE_FILE_WAIT_NS;
    in.live.batched = true;
    status = read_all(&in, fd, path, error);
    if (status == MRD_OK) status = finish(&in, result, error);
    mrd__live_destroy(&in.live);
    return status;
}

mrd_status mrd__session_ingest(const char *input, const char *dir, mrd_record_result *result,
                               mrd_error *error)
{
    *result = (mrd_record_result){0};
    bool standard = strcmp(input, "-") == 0;
    int fd = standard ? dup(STDIN_FILENO) : open(input, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return mrd__fail_errno(error, input, "cannot open");
    mrd_status status = ingest_fd(fd, standard ? "standard input" : input, dir, result, error);
    close(fd);
    return status;
}
