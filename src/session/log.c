/* How a segment grows, and what a failure does.
 *
 *   append ─▶ tail (memory) ─▶ write ─▶ sync ─▶ `synced` moves up, tail is emptied
 *
 *        0                 synced.bytes      written            now.bytes
 *   file ├──────────────────────┼───────────────┤
 *   tail                        ├───────────────┼─────────────────┤
 *
 * A failed write leaves `written` at what is in the file; the next step goes on from there.
 *
 * Of a backlog the next records are encoded while a sync is under way (the flight): its bytes are
 * kept apart from tail, and nothing of tail is written before its end is known, so that the calls
 * on the file come in the same order as ever. A flight that fails goes back in front of tail.
 *
 * After a failed sync nobody knows what of the bytes since the last one is on disk, and the kernel
 * may call them clean: the file is cut back to synced.bytes and closed, a new segment begins, its
 * first record says where the one before ends (MRD__GAP_SYNC_FAILED), and tail is encoded again
 * behind it, in the new chain. Should the new segment fail, too, the next one tells of both.
 *
 * Until it is synced that a segment was cut short, every further segment tells of it again: the
 * gap records of a segment that is itself cut off count for nothing. */
#include "session/log.h"

#include "base/assert.h"
#include "base/error.h"
#include "session/format/bytes.h"
#include "session/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

static uint64_t now_ns(const mrd__log *log)
{
    return log->o.files->now_ns(log->o.files->ctx);
}

/* ---- Encoding ---- */

/* In large pieces: a record at a time costs a tenth more. */
static void hash_tail(mrd__log *log)
{
    if (log->hashed == log->tail.size) return;
    mrd__sha256_add(&log->now.hash, log->tail.data + log->hashed, log->tail.size - log->hashed);
    log->hashed = log->tail.size;
}

/* Put the record at tail[from..] into the mark, but for the hash of the segment. */
static void count_record(mrd__log *log, mrd__log_mark *mark, size_t from, size_t size,
                         unsigned type)
{
    uint8_t leaf[32];
    mrd__merkle_leaf(log->tail.data + from, size, leaf);
    mrd__merkle_add(&mark->merkle, leaf);
    mark->bytes += size;
    mark->records++;
    mark->counts[type]++;
    mark->since_checkpoint = type == MRD__RECORD_CHECKPOINT ? 0 : mark->since_checkpoint + 1;
}

static void encode(mrd__log *log, unsigned type, unsigned flags, uint64_t sequence,
                   const void *payload, size_t size)
{
    if (log->unsynced == 0) log->unsynced_since_ns = now_ns(log);
    if (log->flag) flags |= MRD__FLAG_SYNCED;
    log->flag = false;
    size_t from = log->tail.size;
    mrd__str part = {payload, size};
    log->now.chain =
        mrd__record_append(&log->tail, type, flags, sequence, &part, 1, log->now.chain);
    count_record(log, &log->now, from, log->tail.size - from, type);
    log->unsynced++;
    if (type == MRD__RECORD_LIFECYCLE) log->urgent = true;
}

static void checkpoint(mrd__log *log)
{
    hash_tail(log);
    mrd__checkpoint_payload point = {.records = log->now.records, .offset = log->now.bytes};
    mrd__sha256 copy = log->now.hash;
    mrd__sha256_end(&copy, point.sha256);
    uint8_t payload[MRD__CHECKPOINT_PAYLOAD];
    mrd__checkpoint_write(&point, payload);
    encode(log, MRD__RECORD_CHECKPOINT, 0, log->now.sequence, payload, sizeof payload);
}

void mrd__log_append(mrd__log *log, unsigned type, unsigned flags, uint64_t sequence,
                     const void *payload, size_t size)
{
    mrd__assert(type >= MRD__RECORD_RAW && type < MRD__RECORD_RAW_TYPES);
    if (mrd__record_takes_sequence(type)) {
        mrd__assert(sequence == log->now.sequence + 1);
        log->now.sequence = sequence;
    }
    encode(log, type, flags, log->now.sequence, payload, size);
    if (log->now.since_checkpoint >= log->o.checkpoint_records) checkpoint(log);
}

static void gap_of(mrd__log *log, const mrd__gap_payload *gap)
{
    uint8_t payload[MRD__GAP_PAYLOAD];
    mrd__gap_write(gap, payload);
    mrd__log_append(log, MRD__RECORD_GAP, MRD__FLAG_OWN, log->now.sequence, payload,
                    sizeof payload);
}

void mrd__log_gap(mrd__log *log, mrd__gap_code code, uint64_t a, uint64_t b)
{
    gap_of(log, &(mrd__gap_payload){.code = code, .segment = log->index, .a = a, .b = b});
    if (code == MRD__GAP_MISSING) log->now.sequence = b;
}

bool mrd__log_wants_step(const mrd__log *log)
{
    return log->tail.size >= log->o.sync_bytes || log->now.bytes >= log->o.segment_bytes;
}

uint64_t mrd__log_due_ns(const mrd__log *log)
{
    if (log->unsynced == 0) return UINT64_MAX;
    return log->urgent || log->unsynced >= log->o.sync_records
               ? 0
               : log->unsynced_since_ns + log->o.sync_ns;
}

/* ---- Segments ---- */

static void note_closed(mrd__log *log, const mrd__log_mark *mark, bool headless)
{
    mrd__log_segment closed = {.index = log->index, .headless = headless, .first = log->first};
    mrd__sha256 copy = mark->hash;
    closed.bytes = headless ? 0 : mark->bytes;
    if (headless) mrd__sha256_begin(&copy);
    mrd__sha256_end(&copy, closed.sha256);
    closed.last = headless ? log->first - 1 : mark->sequence;
    if (!headless) memcpy(closed.counts, mark->counts, sizeof closed.counts);
    mrd__vec_push(&log->closed, closed);
}

/* The newest segment whose header is on disk: what the next one follows. */
static void previous_of(const mrd__log *log, uint8_t out[16])
{
    memcpy(out, log->o.previous, 16);
    for (size_t i = log->closed.count; i-- > 0;) {
        if (log->closed.data[i].headless) continue;
        memcpy(out, log->closed.data[i].sha256, 16);
        return;
    }
}

static void close_fd(mrd__log *log)
{
    /* Whatever close says: what counts was synced before, and the descriptor is gone. */
    if (log->fd >= 0) (void)log->o.files->close(log->o.files->ctx, log->fd);
    log->fd = -1;
}

/* The segment ends at the last sync. */
static void cut_short(mrd__log *log)
{
    const mrd__files *files = log->o.files;
    bool headless = !log->head_synced;
    note_closed(log, &log->synced, headless);
    mrd__log_segment *closed = &log->closed.data[log->closed.count - 1];
    closed->sync_failed = true;
    closed->tail = (headless ? MRD__SEGMENT_HEAD : 0) + log->written;
    if (closed->tail > 0 && files->ftruncate(files->ctx, log->fd, closed->bytes) == 0)
        closed->tail = 0;
    close_fd(log);
    log->end_at_synced = false;
}

static mrd_status write_head(mrd__log *log, mrd_error *error)
{
    const mrd__files *files = log->o.files;
    mrd__segment_head head = {
        .kind = MRD__FILE_RAW, .index = log->index, .first_sequence = log->synced.sequence + 1};
    memcpy(head.uuid, log->o.uuid, sizeof head.uuid);
    previous_of(log, head.previous);
    uint8_t bytes[MRD__SEGMENT_HEAD];
    uint32_t chain = mrd__segment_head_write(&head, bytes);
    mrd_status status =
        mrd__files_write(files, log->fd, bytes, sizeof bytes, NULL, log->path, error);
    log->first = head.first_sequence;
    log->head_synced = false;
    log->synced.bytes = sizeof bytes;
    log->synced.chain = chain;
    memset(log->synced.counts, 0, sizeof log->synced.counts);
    mrd__sha256_begin(&log->synced.hash);
    mrd__sha256_add(&log->synced.hash, bytes, sizeof bytes);
    if (status == MRD_OK && files->fsync(files->ctx, log->fd) != 0)
        status = mrd__fail_errno(error, log->path, "cannot sync the new segment");
    if (status == MRD_OK) status = mrd__files_sync_folder(files, log->raw, error);
    log->head_synced = status == MRD_OK;
    return status;
}

/* A record of tail. */
static mrd__record record_at(const uint8_t *in)
{
    return (mrd__record){.type = mrd__get16(in + 16),
                         .flags = mrd__get16(in + 18),
                         .size = mrd__get32(in + 4),
                         .sequence = mrd__get64(in + 8),
                         .payload = in + MRD__RECORD_HEAD};
}

/* Encode tail again behind the new segment's header: the same records but the writer's own notes
 * about segments and the checkpoints, which come anew. */
static void encode_again(mrd__log *log)
{
    mrd__buf old = {0};
    if (log->tail.size > 0) {
        old = log->tail;
        log->tail = (mrd__buf){0};
    }
    log->hashed = 0;
    log->written = 0;
    log->ahead = 0;
    log->unsynced = 0;
    log->now = log->synced;
    log->flag = true;
    for (size_t i = log->told; i < log->closed.count; i++) {
        const mrd__log_segment *closed = &log->closed.data[i];
        if (!closed->sync_failed) continue;
        gap_of(log, &(mrd__gap_payload){.code = MRD__GAP_SYNC_FAILED,
                                        .segment = closed->index,
                                        .a = closed->bytes,
                                        .b = closed->bytes + closed->tail});
    }
    for (size_t at = 0; at < old.size;) {
        mrd__record record = record_at((const uint8_t *)old.data + at);
        at += mrd__record_space(record.size);
        mrd__gap_payload gap;
        bool own = mrd__gap_read(&record, &gap);
        if (record.type == MRD__RECORD_CHECKPOINT) continue;
        if (own && gap.code == MRD__GAP_SYNC_FAILED) continue;
        mrd__log_append(log, record.type, record.flags & ~MRD__FLAG_SYNCED, record.sequence,
                        record.payload, record.size);
        if (own && gap.code == MRD__GAP_MISSING) log->now.sequence = gap.b;
    }
    mrd__buf_reset(&old);
}

/* Begin the next segment, with what is in tail. A file that could not be made whole is given up
 * and the number after it taken at the next try. */
static mrd_status open_segment(mrd__log *log, mrd_error *error)
{
    const mrd__files *files = log->o.files;
    if (log->index >= MRD__SEGMENTS_MAX)
        return mrd__fail(error, MRD_ERR_LIMIT, "too_many_segments",
                         "the session has %u segments, the limit", log->index);
    mrd__buf path = {0};
    mrd__buf_printf(&path, "%s/%06u.mrl", log->raw, log->index + 1);
    mrd__free(log->path);
    log->path = path.data;
    log->fd =
        mrd__files_open(files, log->path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND, 0666, error);
    if (log->fd < 0) return MRD_ERR_IO;
    log->index++;
    mrd_status status = write_head(log, error);
    if (status != MRD_OK) {
        log->written = 0;
        cut_short(log);
        return status;
    }
    log->opened_ns = now_ns(log);
    encode_again(log);
    return MRD_OK;
}

mrd_status mrd__log_begin(mrd__log *log, const mrd__log_options *options, mrd_error *error)
{
    *log = (mrd__log){.o = *options, .fd = -1};
    const mrd__files *files = options->files;
    mrd__sha256_begin(&log->synced.hash);
    log->raw = mrd__files_join(options->dir, "raw");
    if (files->mkdir(files->ctx, log->raw, 0777) != 0)
        return mrd__fail_errno(error, log->raw, "cannot make the folder");
    MRD__TRY(mrd__files_sync_folder(files, options->dir, error));
    return open_segment(log, error);
}

void mrd__log_reset(mrd__log *log)
{
    close_fd(log);
    mrd__free(log->raw);
    mrd__free(log->path);
    mrd__assert(!log->flight.under_way);
    mrd__buf_reset(&log->flight.bytes);
    mrd__buf_reset(&log->tail);
    mrd__vec_reset(&log->closed);
    *log = (mrd__log){.fd = -1};
}

/* ---- Steps ---- */

static mrd_status write_tail(mrd__log *log, mrd_error *error)
{
    hash_tail(log);
    if (log->written == log->tail.size) return MRD_OK;
    size_t put = 0;
    mrd_status status = mrd__files_write(log->o.files, log->fd, log->tail.data + log->written,
                                         log->tail.size - log->written, &put, log->path, error);
    log->written += put;
    if (status == MRD_OK) log->written_sequence = log->now.sequence;
    return status;
}

/* What is encoded from here on, into an empty tail. */
static void begin_tail(mrd__log *log)
{
    log->hashed = 0;
    log->written = 0;
    log->ahead = 0;
    log->unsynced = 0;
    log->urgent = false;
    log->flag = true;
}

static void all_synced(mrd__log *log)
{
    log->synced = log->now;
    mrd__buf_clear(&log->tail);
    begin_tail(log);
    log->failures = 0;
    log->told = log->closed.count;
}

static mrd_status sync_failed(mrd__log *log, mrd_error *error)
{
    int number = errno;
    log->sync_failures++;
    log->failures++;
    log->end_at_synced = true;
    errno = number;
    return mrd__fail_errno(error, log->path, "cannot sync");
}

/* A sync of what is written begins; what is encoded from here on counts on it. */
static void launch(mrd__log *log)
{
    mrd__log_flight *flight = &log->flight;
    mrd__buf spare = flight->bytes;
    mrd__assert(log->written == log->tail.size && log->hashed == log->tail.size);
    *flight = (mrd__log_flight){.under_way = true,
                                .urgent = log->urgent,
                                .mark = log->now,
                                .bytes = log->tail,
                                .unsynced = log->unsynced,
                                .unsynced_since_ns = log->unsynced_since_ns};
    log->tail = spare;
    begin_tail(log);
    mrd__syncer_begin(log->o.syncer, log->fd);
}

/* The flight failed: all of it is unsynced again, with what was encoded since. */
static void take_back(mrd__log *log)
{
    mrd__log_flight *flight = &log->flight;
    mrd__buf later = log->tail;
    log->tail = flight->bytes;
    log->written = log->tail.size;
    log->hashed += log->tail.size;
    mrd__buf_add(&log->tail, later.data, later.size);
    mrd__buf_clear(&later);
    flight->bytes = later;
    log->unsynced += flight->unsynced;
    log->unsynced_since_ns = flight->unsynced_since_ns;
    log->urgent = log->urgent || flight->urgent;
}

/* Wait for the flight, if there is one. */
static mrd_status land(mrd__log *log, mrd_error *error)
{
    mrd__log_flight *flight = &log->flight;
    if (!flight->under_way) return MRD_OK;
    flight->under_way = false;
    if (mrd__syncer_wait(log->o.syncer) != 0) {
        mrd_status status = sync_failed(log, error);
        take_back(log);
        return status;
    }
    log->synced = flight->mark;
    log->failures = 0;
    log->told = log->closed.count;
    mrd__buf_clear(&flight->bytes);
    return MRD_OK;
}

void mrd__log_write_ahead(mrd__log *log)
{
    const mrd__files *files = log->o.files;
    size_t done = log->written > log->ahead ? log->written : log->ahead;
    if (log->tail.size - done < MRD__WRITE_AHEAD_BYTES) return;
    log->ahead = log->tail.size;
    hash_tail(log); /* while it is in the cache */
    if (log->flight.under_way) {
        if (!mrd__syncer_done(log->o.syncer)) return;
        if (land(log, NULL) != MRD_OK) return; /* the step's to mend */
    }
    if (log->fd < 0 || log->end_at_synced) return; /* likewise */
    if (write_tail(log, NULL) != MRD_OK) return;   /* and this to try again, and to tell */
    if (files->begin_sync != NULL) files->begin_sync(files->ctx, log->fd);
}

/* What stands in the way of writing: a segment to be cut short, none open. */
static mrd_status ensure_segment(mrd__log *log, mrd_error *error)
{
    if (log->end_at_synced) cut_short(log);
    return log->fd >= 0 ? MRD_OK : open_segment(log, error);
}

/* One try of a sync; a failure marks the segment. */
static mrd_status sync_once(mrd__log *log, bool whole, mrd_error *error)
{
    const mrd__files *files = log->o.files;
    int rc = whole ? files->fsync(files->ctx, log->fd) : files->fdatasync(files->ctx, log->fd);
    if (rc == 0) {
        all_synced(log);
        return MRD_OK;
    }
    return sync_failed(log, error);
}

/* Whether a failed sync is the last one before the writer stops. */
static bool gives_in(mrd__log *log)
{
    if (log->failures < MRD__SYNC_FAILURES) return false;
    log->failures = 0; /* a retry may try as often again */
    return true;
}

/* Write and sync all of tail, in as many segments as that takes. */
static mrd_status sync_tail(mrd__log *log, bool whole, mrd_error *error)
{
    for (;;) {
        MRD__TRY(ensure_segment(log, error));
        MRD__TRY(write_tail(log, error));
        mrd_status status = sync_once(log, whole, error);
        if (status == MRD_OK || gives_in(log)) return status;
    }
}

static mrd_status close_segment(mrd__log *log, mrd_error *error)
{
    MRD__TRY(sync_tail(log, true, error));
    note_closed(log, &log->now, false);
    log->told = log->closed.count;
    close_fd(log);
    return MRD_OK;
}

mrd_status mrd__log_step(mrd__log *log, bool sync, bool more, mrd_error *error)
{
    mrd_status status = land(log, error);
    if (status != MRD_OK && gives_in(log)) return status;
    bool again = log->end_at_synced; /* what failed is synced anew, at once */
    MRD__TRY(ensure_segment(log, error));
    MRD__TRY(write_tail(log, error));
    bool full = log->now.bytes >= log->o.segment_bytes;
    uint64_t now = now_ns(log);
    bool due = mrd__log_due_ns(log) <= now || log->tail.size >= log->o.sync_bytes;
    bool aged = log->now.records > log->synced.records && log->opened_ns + log->o.segment_ns <= now;
    if (full || aged) {
        MRD__TRY(close_segment(log, error));
        return open_segment(log, error);
    }
    if ((!due && !sync && !again) || log->tail.size == 0) return MRD_OK;
    if (!more || again) return sync_tail(log, false, error);
    launch(log);
    return MRD_OK;
}

mrd_status mrd__log_end(mrd__log *log, mrd_error *error)
{
    mrd__assert(!log->flight.under_way);
    if (log->fd < 0 && log->tail.size == 0 && log->closed.count > 0 && !log->end_at_synced)
        return MRD_OK;
    return close_segment(log, error);
}

/* `synced` moved over the records of tail that are wholly in the file. */
static mrd__log_mark mark_of_written(mrd__log *log)
{
    mrd__log_mark mark = log->synced;
    for (size_t at = 0; at < log->tail.size;) {
        const uint8_t *in = (const uint8_t *)log->tail.data + at;
        size_t space = mrd__record_space(mrd__get32(in + 4));
        if (at + space > log->written) break;
        unsigned type = mrd__get16(in + 16);
        mrd__sha256_add(&mark.hash, in, space);
        count_record(log, &mark, at, space, type);
        if (mrd__record_takes_sequence(type)) mark.sequence = mrd__get64(in + 8);
        mrd__gap_payload gap;
        mrd__record record = record_at(in);
        if (mrd__gap_read(&record, &gap) && gap.code == MRD__GAP_MISSING) mark.sequence = gap.b;
        mark.chain = mrd__get32(in + 28);
        at += space;
    }
    return mark;
}

mrd_status mrd__log_give_up(mrd__log *log, mrd_error *error)
{
    const mrd__files *files = log->o.files;
    mrd__assert(!log->flight.under_way);
    log->hashed = 0;
    log->ahead = 0;
    if (log->fd < 0) {
        /* No segment could be begun: the closed ones are all there is. */
        mrd__buf_clear(&log->tail);
        log->now = log->synced;
        log->written = 0;
        return MRD_OK;
    }
    mrd__log_mark mark = log->end_at_synced ? log->synced : mark_of_written(log);
    uint64_t in_file = log->synced.bytes + log->written;
    if (log->end_at_synced || files->fsync(files->ctx, log->fd) != 0) mark = log->synced;
    note_closed(log, &mark, false);
    mrd__log_segment *closed = &log->closed.data[log->closed.count - 1];
    closed->tail = in_file - closed->bytes;
    if (closed->tail > 0 && files->ftruncate(files->ctx, log->fd, closed->bytes) == 0)
        closed->tail = 0;
    close_fd(log);
    mrd__buf_clear(&log->tail);
    log->end_at_synced = false;
    log->written = 0;
    log->now = log->synced = mark;
    log->written_sequence = mark.sequence;
    (void)error;
    return MRD_OK;
}
