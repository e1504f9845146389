/* A copy of a projector's state: arrays as they are, what stands in the arena anew. */
#include "session/projector_state.h"

#include <string.h>

#define COPY_VEC(to, from)                                                                         \
    do {                                                                                           \
        (to)->data = NULL;                                                                         \
        (to)->count = (to)->capacity = 0;                                                          \
        mrd__vec_reserve((to), (from)->count);                                                     \
        if ((from)->count > 0)                                                                     \
            memcpy((to)->data, (from)->data, (from)->count * sizeof *(to)->data);                  \
        (to)->count = (from)->count;                                                               \
    } while (0)

static void *copy_block(const void *from, size_t size)
{
    if (from == NULL) return NULL;
    void *to = mrd__alloc(size);
    memcpy(to, from, size);
    return to;
}

static mrd__str again(mrd__projector *p, mrd__str text)
{
    if (text.size == 0) return MRD__STR("");
    return (mrd__str){mrd__arena_text(&p->texts, text.data, text.size), text.size};
}

static void copy_sources(mrd__projector *to, const mrd__projector *from)
{
    COPY_VEC(&to->sources, &from->sources);
    for (size_t i = 0; i < to->sources.count; i++) {
        source_state *s = &to->sources.data[i];
        s->id = again(to, s->id);
        for (size_t j = 0; j < 2; j++)
            s->seen.slots[j] =
                copy_block(s->seen.slots[j], 2 * MRD__REPLAYS_MAX * sizeof(replayed));
    }
    COPY_VEC(&to->names, &from->names);
    for (size_t i = 0; i < to->names.count; i++)
        to->names.data[i] = again(to, to->names.data[i]);
}

static void copy_declared(mrd__projector *to, const mrd__projector *from)
{
    COPY_VEC(&to->declared, &from->declared);
    for (size_t i = 0; i < to->declared.count; i++) {
        declared_state *d = &to->declared.data[i];
        d->name = again(to, d->name);
        d->metric.id = again(to, mrd__str_of(d->metric.id)).data;
        d->metric.unit = again(to, mrd__str_of(d->metric.unit)).data;
    }
}

static void copy_streams(mrd__projector *to, const mrd__projector *from)
{
    COPY_VEC(&to->streams, &from->streams);
    for (size_t i = 0; i < to->streams.count; i++) {
        stream_state *s = &to->streams.data[i];
        mrd__origin *o = &s->origin;
        s->kind = again(to, s->kind);
        COPY_VEC(&s->declared, &from->streams.data[i].declared);
        o->source_id = to->sources.data[s->source].id;
        o->kind = s->kind;
        o->clock_domain = again(to, o->clock_domain);
        o->schema_id = again(to, o->schema_id);
    }
}

static void copy_series(mrd__projector *to, const mrd__projector *from)
{
    COPY_VEC(&to->series, &from->series);
    for (size_t i = 0; i < to->series.count; i++) {
        series_state *s = &to->series.data[i];
        mrd__series *pub = mrd__arena_alloc(&to->texts, sizeof *pub, sizeof(void *));
        *pub = *s->pub;
        pub->key = again(to, pub->key);
        pub->source = to->sources.data[to->streams.data[s->stream].source].id;
        if (s->declared >= 0) {
            pub->metric = mrd__str_of(to->declared.data[s->declared].metric.id);
            pub->unit = mrd__str_of(to->declared.data[s->declared].metric.unit);
        }
        s->pub = pub;
    }
    COPY_VEC(&to->frames, &from->frames);
    for (size_t i = 0; i < to->frames.count; i++) {
        frames_state *f = &to->frames.data[i];
        f->display = again(to, f->display);
        f->window = copy_block(f->window, MRD__WINDOW_FRAMES_MAX * sizeof *f->window);
    }
}

mrd__projector *mrd__projector_copy(const mrd__projector *from)
{
    mrd__projector *to = mrd__projector_create();
    copy_sources(to, from);
    copy_declared(to, from);
    copy_streams(to, from);
    copy_series(to, from);
    COPY_VEC(&to->pids, &from->pids);
    memcpy(to->stream_slots, from->stream_slots, MRD__STREAM_SLOTS * sizeof *to->stream_slots);
    memcpy(to->series_slots, from->series_slots, MRD__SERIES_SLOTS * sizeof *to->series_slots);
    to->origins = from->origins;
    to->counts = from->counts;
    return to;
}
