#include "ingest/perfetto/state.h"

#include "base/alloc.h"

#include <string.h>

/* ---- The map ---- */

static size_t place_of(const mrd__pf_map *map, mrd__pf_kind kind, uint32_t scope, uint64_t key)
{
    size_t mask = map->size - 1;
    size_t at = mrd__hash_mix(key, (uint64_t)kind << 32 | scope) & mask;
    while (map->slots[at].kind != 0 &&
           (map->slots[at].key != key || map->slots[at].kind != (uint32_t)kind ||
            map->slots[at].scope != scope))
        at = (at + 1) & mask;
    return at;
}

static void grow(mrd__pf_map *map)
{
    mrd__pf_map old = *map;
    map->size = old.size == 0 ? 32 : old.size * 2;
    map->slots = mrd__new_array(mrd__pf_slot, map->size);
    for (size_t i = 0; i < old.size; i++) {
        const mrd__pf_slot *slot = &old.slots[i];
        if (slot->kind != 0)
            map->slots[place_of(map, (mrd__pf_kind)slot->kind, slot->scope, slot->key)] = *slot;
    }
    mrd__free(old.slots);
}

uint32_t *mrd__pf_map_at(mrd__pf_map *map, mrd__pf_kind kind, uint32_t scope, uint64_t key)
{
    if (map->used * 2 >= map->size) grow(map);
    mrd__pf_slot *slot = &map->slots[place_of(map, kind, scope, key)];
    if (slot->kind == 0) {
        *slot = (mrd__pf_slot){.key = key, .kind = kind, .scope = scope};
        map->used++;
    }
    return &slot->value;
}

uint32_t mrd__pf_map_find(const mrd__pf_map *map, mrd__pf_kind kind, uint32_t scope, uint64_t key)
{
    return map->size == 0 ? 0 : map->slots[place_of(map, kind, scope, key)].value;
}

void mrd__pf_map_reset(mrd__pf_map *map)
{
    mrd__free(map->slots);
    *map = (mrd__pf_map){0};
}

/* ---- State ---- */

void mrd__pf_reset(mrd__pf *pf)
{
    for (size_t i = 0; i < pf->sequences.count; i++) {
        mrd__pf_sequence *sequence = pf->sequences.data[i];
        mrd__pf_map_reset(&sequence->interned);
        mrd__vec_reset(&sequence->sources);
        mrd__vec_reset(&sequence->ticks);
        mrd__vec_reset(&sequence->counter_uuids);
        mrd__vec_reset(&sequence->double_uuids);
        mrd__free(sequence);
    }
    mrd__vec_reset(&pf->sequences);
    mrd__pf_map_reset(&pf->map);
    mrd__vec_reset(&pf->processes);
    mrd__vec_reset(&pf->threads);
    mrd__vec_reset(&pf->tracks);
    mrd__vec_reset(&pf->sched);
    mrd__buf_reset(&pf->text);
    mrd__buf_reset(&pf->json);
    mrd__pf_schema_reset(&pf->schema);
}

void mrd__pf_loss(mrd__pf *pf, mrd__loss_id id, const char *text)
{
    mrd__shard_loss(pf->shard, id, 0, 1, pf->offset, text, text != NULL ? strlen(text) : 0);
}

mrd__str mrd__pf_utf8(mrd__pf *pf, mrd__str text)
{
    if (text.size > MRD__PF_MAX_TEXT) {
        mrd__pf_loss(pf, MRD__LOSS_STRING_TOO_LONG, NULL);
        return (mrd__str){0};
    }
#ifdef MRD_PLANTED_BUGS /* what the fuzzer of Perfetto traces must find */
    if (text.size > 8) return text;
#endif
    if (mrd__utf8_valid(text)) return text;
    mrd__buf_clear(&pf->text);
    mrd__utf8_repair(&pf->text, text);
    mrd__pf_loss(pf, MRD__LOSS_INVALID_UTF8, NULL);
    return (mrd__str){pf->text.data, pf->text.size};
}

uint32_t mrd__pf_string(mrd__pf *pf, mrd__str text)
{
    text = mrd__pf_utf8(pf, text);
    return mrd__shard_string(pf->shard, text.data, text.size, (uint64_t)pf->offset);
}

uint32_t mrd__pf_literal(mrd__pf *pf, const char *text)
{
    return mrd__shard_string(pf->shard, text, strlen(text), (uint64_t)pf->offset);
}

mrd__pf_sequence *mrd__pf_sequence_of(mrd__pf *pf, uint32_t machine, uint32_t id)
{
    uint32_t *index = mrd__pf_map_at(&pf->map, MRD__PF_SEQUENCE, machine, id);
    if (*index == 0) {
        mrd__pf_sequence *sequence = mrd__new(mrd__pf_sequence);
        sequence->machine = machine;
        sequence->id = id;
        sequence->state = ++pf->states;
        mrd__vec_push(&pf->sequences, sequence);
        *index = (uint32_t)pf->sequences.count;
    }
    return pf->sequences.data[*index - 1];
}

void mrd__pf_set_machine(mrd__pf *pf, uint32_t machine)
{
    pf->machine = machine;
    mrd__shard_machine(pf->shard, machine);
}

void mrd__pf_clear(mrd__pf *pf, mrd__pf_sequence *sequence)
{
    mrd__pf_map_reset(&sequence->interned);
    sequence->sources.count = 0;
    sequence->ticks.count = 0;
    sequence->state = ++pf->states;
    sequence->valid = true;
    sequence->has_track = sequence->has_clock = sequence->has_thread = false;
    sequence->counter_uuids.count = sequence->double_uuids.count = 0;
    sequence->reference_us = sequence->thread_time_us = sequence->instructions = 0;
}

mrd__fact *mrd__pf_push(mrd__pf *pf, mrd__phase phase, uint32_t local, int64_t ts)
{
    if (pf->facts++ == MRD__PF_CHUNK) {
        mrd__shard_chunk(pf->shard, ++pf->order);
        pf->facts = 1;
    }
    mrd__fact *fact = mrd__shard_push(pf->shard);
    fact->ts = ts;
    fact->thread = local;
    fact->phase = (uint64_t)phase & 0xff;
    return fact;
}
