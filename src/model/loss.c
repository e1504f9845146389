#include "model/facts.h"

#include "base/assert.h"

#include <string.h>

static const mrd__loss_info infos[MRD__LOSS_COUNT] = {
#define LOSS_INFO(id, name, peer, severity, advice)                                                \
    [MRD__LOSS_##id] = {name, peer, severity, advice},
    MRD__LOSS_LIST(LOSS_INFO)
#undef LOSS_INFO
};

const mrd__loss_info *mrd__loss_info_of(mrd__loss_id id)
{
    mrd__assert(id < MRD__LOSS_COUNT);
    return &infos[id];
}

const char *mrd__severity_name(mrd__severity severity)
{
    switch (severity) {
    case MRD__INFO:
        return "info";
    case MRD__DATA_LOSS:
        return "data_loss";
    case MRD__LOSS_ERROR:
        return "error";
    }
    return "unknown";
}

void mrd__loss_set_excerpt(mrd__loss *loss, const char *text, size_t size)
{
    mrd__buf repaired = {0};
    /* A replacement takes three bytes for at least one: more input than this is never needed. */
    size_t enough = size < MRD__LOSS_EXCERPT + 4 ? size : MRD__LOSS_EXCERPT + 4;
    mrd__utf8_repair(&repaired, (mrd__str){text, enough});
    size_t keep = repaired.size < MRD__LOSS_EXCERPT ? repaired.size : MRD__LOSS_EXCERPT;
    while (keep > 0 && keep < repaired.size && ((unsigned char)repaired.data[keep] & 0xC0) == 0x80)
        keep--;
    if (keep > 0) memcpy(loss->excerpt, repaired.data, keep);
    loss->excerpt[keep] = '\0';
    mrd__buf_reset(&repaired);
}

/* An unknown place stands behind every known one. */
static bool stands_before(int64_t a, int64_t b)
{
    return (uint64_t)a < (uint64_t)b;
}

void mrd__loss_merge(mrd__loss_vec *list, const mrd__loss *loss)
{
    for (size_t i = 0; i < list->count; i++) {
        mrd__loss *own = &list->data[i];
        if (own->id != loss->id || own->letter != loss->letter || own->file != loss->file) continue;
        own->count += loss->count;
        if (loss->worst_ns < own->worst_ns) own->worst_ns = loss->worst_ns;
        if (stands_before(loss->offset, own->offset)) {
            own->offset = loss->offset;
            memcpy(own->excerpt, loss->excerpt, sizeof own->excerpt);
        }
        return;
    }
    mrd__vec_push(list, *loss);
}
