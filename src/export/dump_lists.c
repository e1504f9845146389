#include "base/error.h"
#include "base/json.h"
#include "export/tables.h"

#include <inttypes.h>
#include <stdio.h>

mrd_status mrd__dump_processes(const mrd__store *store, mrd__plain *plain, mrd_error *error)
{
    mrd__buf names = {0};
    mrd_status status = MRD_OK;
    for (size_t p = 0; p < store->process_count && status == MRD_OK; p++) {
        const mrd__process *process = &store->processes[p];
        mrd__buf_clear(&names);
        mrd__buf_char(&names, '[');
        for (uint32_t i = 0; i < process->name_count; i++) {
            if (i > 0) mrd__buf_char(&names, ',');
            mrd__str_id id = store->process_names[process->name_first + i];
            mrd__buf_json_string(&names, mrd__store_str(store, id));
        }
        mrd__buf_char(&names, ']');
        mrd__plain_ident(plain, store, process->pid);
        mrd__plain_name(plain, store, process->name);
        mrd__plain_json(plain, (mrd__str){names.data, names.size});
        mrd__plain_int(plain, process->sort_index);
        mrd__plain_name(plain, store, process->labels);
        status = mrd__plain_row(plain, error);
    }
    mrd__buf_reset(&names);
    return status;
}

mrd_status mrd__dump_threads(const mrd__store *store, mrd__plain *plain, mrd_error *error)
{
    for (size_t t = 0; t < store->thread_count; t++) {
        const mrd__thread *thread = &store->threads[t];
        mrd__plain_pid(plain, store, thread->process);
        mrd__plain_ident(plain, store, thread->tid);
        mrd__plain_name(plain, store, thread->name);
        mrd__plain_int(plain, thread->sort_index);
        MRD__TRY(mrd__plain_row(plain, error));
    }
    return MRD_OK;
}

mrd_status mrd__dump_tracks(const mrd__store *store, mrd__plain *plain, mrd_error *error)
{
    for (size_t t = 0; t < store->track_count; t++) {
        const mrd__track *track = &store->tracks[t];
        /* Counters and instants are drawn on one line; a slice track has as many as it needs. */
        bool points = track->kind == MRD__TRACK_COUNTER || track->kind == MRD__TRACK_INSTANT;
        bool records = track->event_key != MRD__NONE;
        mrd__plain_uint(plain, t);
        mrd__plain_index(plain, track->parent);
        mrd__plain_text(plain, mrd__str_of(mrd__track_kind_name(track->kind)));
        mrd__plain_text(plain, mrd__store_str(store, track->name));
        mrd__plain_pid(plain, store, track->process);
        mrd__plain_tid(plain, store, track->thread);
        mrd__plain_uint(plain, points || records ? 1 : track->row_count);
        mrd__plain_uint(plain, track->count);
        MRD__TRY(mrd__plain_row(plain, error));
    }
    return MRD_OK;
}

bool mrd__metadata_is_json(const mrd__metadata *one, mrd__str value)
{
    if (one->json_type != MRD__JSON_NUMBER) return one->json_type != MRD__JSON_STRING;
    mrd__json json;
    mrd__json_init(&json, value.data, value.size);
    mrd__json_token token = mrd__json_next(&json);
    return token.type == MRD__JSON_NUMBER && !token.nonstandard;
}

mrd_status mrd__dump_metadata(const mrd__store *store, mrd__plain *plain, mrd_error *error)
{
    for (size_t i = 0; i < store->metadata_count; i++) {
        const mrd__metadata *one = &store->metadata[i];
        mrd__str value = mrd__store_str(store, one->value);
        mrd__plain_text(plain, mrd__store_str(store, one->key));
        if (mrd__metadata_is_json(one, value))
            mrd__plain_json(plain, value);
        else
            mrd__plain_text(plain, value);
        MRD__TRY(mrd__plain_row(plain, error));
    }
    return MRD_OK;
}

void mrd__dump_loss_cells(const mrd__store *store, const mrd__loss *loss, mrd__plain *plain)
{
    const mrd__loss_info *info = mrd__loss_info_of(loss->id);
    mrd__plain_text(plain, mrd__str_of(info->name));
    if (info->peer_name != NULL)
        mrd__plain_text(plain, mrd__str_of(info->peer_name));
    else
        mrd__plain_null(plain);
    mrd__plain_text(plain, mrd__str_of(mrd__severity_name(info->severity)));
    mrd__plain_uint(plain, loss->count);
    bool known = loss->file < store->file_count;
    mrd__plain_text(plain, mrd__str_of(known ? store->files[loss->file].path : ""));
    if (loss->offset >= 0)
        mrd__plain_int(plain, loss->offset);
    else
        mrd__plain_null(plain);
    /* What tells losses of one cause apart stands in the excerpt: the phase, the worst case. */
    char excerpt[MRD__LOSS_EXCERPT + 64];
    int size;
    if (loss->letter != '\0')
        size = snprintf(excerpt, sizeof excerpt, "%c", loss->letter);
    else if (loss->worst_ns != 0)
        size = snprintf(excerpt, sizeof excerpt, "%s%sworst %" PRId64 " ns", loss->excerpt,
                        loss->excerpt[0] != '\0' ? ", " : "", loss->worst_ns);
    else
        size = snprintf(excerpt, sizeof excerpt, "%s", loss->excerpt);
    mrd__plain_text(plain, (mrd__str){excerpt, (size_t)size});
    mrd__plain_text(plain, mrd__str_of(info->advice));
}

mrd_status mrd__dump_losses(const mrd__store *store, mrd__plain *plain, mrd_error *error)
{
    for (size_t i = 0; i < store->loss_count; i++) {
        mrd__dump_loss_cells(store, &store->losses[i], plain);
        MRD__TRY(mrd__plain_row(plain, error));
    }
    return MRD_OK;
}
