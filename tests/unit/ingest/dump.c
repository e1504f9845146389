#include "ingest/dump.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

typedef struct piece {
    mrd__shard *shard;
    mrd__chunk chunk;
} piece;

typedef MRD__VEC(piece) pieces;

static int by_order(const void *a, const void *b)
{
    const piece *x = a, *y = b;
    if (x->shard->file != y->shard->file) return x->shard->file < y->shard->file ? -1 : 1;
    return x->chunk.order < y->chunk.order ? -1 : x->chunk.order > y->chunk.order;
}

static void put_str(mrd__buf *out, const mrd__shard *shard, uint32_t id)
{
    mrd__buf_json_string(out, mrd__shard_text(shard, id));
}

static void put_ident(mrd__buf *out, const mrd__shard *shard, mrd__ident ident)
{
    if (ident.kind == MRD__IDENT_NUMBER)
        mrd__buf_int(out, ident.number);
    else if (ident.kind == MRD__IDENT_TEXT)
        put_str(out, shard, ident.text);
    else
        mrd__buf_char(out, '-');
}

/* The text of an object of unknown length. */
static mrd__str object_at(const char *text)
{
    size_t depth = 0, at = 0;
    bool in_string = false;
    do {
        char c = text[at];
        if (in_string) {
            if (c == '\\')
                at++;
            else if (c == '"')
                in_string = false;
        } else if (c == '"') {
            in_string = true;
        } else if (c == '{' || c == '[') {
            depth++;
        } else if (c == '}' || c == ']') {
            depth--;
        }
        at++;
    } while (depth > 0);
    return (mrd__str){text, at};
}

static void put_args(mrd__buf *out, const mrd__shard *shard, const mrd__fact *fact,
                     const char *text)
{
    if (fact->args == 0) return;
    uint64_t place = fact->args - 1;
    if (fact->flags & MRD__ARGS_PLACE) {
        mrd__buf_printf(out, " at=%" PRIu64, place);
        return;
    }
    bool owned = fact->flags & MRD__ARGS_OWNED;
    const char *at = owned ? shard->blobs.data[place >> 32].data + (uint32_t)place : text + place;
    mrd__buf_text(out, " args=");
    mrd__buf_str(out, object_at(at));
}

static const char *const phase_names[] = {"X", "B", "E", "i", "C",  "b",  "e",  "n",   "S",  "T",
                                          "F", "s", "t", "f", "Mp", "Mt", "Ml", "Mps", "Mts"};

static void put_fact(mrd__buf *out, const mrd__shard *shard, const mrd__fact *fact,
                     const char *text)
{
    const mrd__shard_thread_key *key = &shard->threads.data[fact->thread];
    mrd__buf_printf(out, "%s %" PRId64 " ", phase_names[fact->phase], fact->ts);
    if (fact->phase == MRD__COUNTER)
        mrd__buf_double(out, fact->value);
    else
        mrd__buf_int(out, fact->dur);
    mrd__buf_char(out, ' ');
    put_ident(out, shard, key->pid);
    mrd__buf_char(out, '/');
    put_ident(out, shard, key->tid);
    mrd__buf_char(out, ' ');
    put_str(out, shard, fact->name);
    mrd__buf_char(out, ' ');
    put_str(out, shard, fact->category);
    if (fact->phase == MRD__COUNTER) {
        mrd__buf_text(out, " series=");
        put_str(out, shard, fact->extra);
    } else if (fact->extra != 0) {
        const mrd__side *side = mrd__shard_side_of(shard, fact->extra);
        mrd__buf_text(out, " id=");
        put_str(out, shard, side->id);
        mrd__buf_text(out, " scope=");
        put_str(out, shard, side->scope);
        mrd__buf_text(out, " bind=");
        put_str(out, shard, side->bind_id);
        mrd__buf_printf(out, " side=%u", side->flags);
    }
    uint64_t hidden = MRD__ARGS_OWNED | MRD__ARGS_PLACE;
    mrd__buf_printf(out, " flags=%u", (unsigned)(fact->flags & ~hidden & 0xff));
    put_args(out, shard, fact, text);
    mrd__buf_char(out, '\n');
}

static void collect(mrd__writer *writer, pieces *all)
{
    for (size_t i = 0; i < writer->shards.count; i++) {
        mrd__shard *shard = writer->shards.data[i];
        for (size_t c = 0; c < shard->chunks.count; c++) {
            piece p = {shard, shard->chunks.data[c]};
            mrd__vec_push(all, p);
        }
    }
    if (all->count > 0) qsort(all->data, all->count, sizeof *all->data, by_order);
}

static void put_counts(mrd__writer *writer, mrd__buf *out)
{
    for (unsigned letter = 0; letter < 128; letter++) {
        uint64_t count = 0;
        for (size_t i = 0; i < writer->shards.count; i++)
            count += writer->shards.data[i]->phases[letter];
        if (count == 0) continue;
        if (letter == 0)
            mrd__buf_printf(out, "phase none %" PRIu64 "\n", count);
        else
            mrd__buf_printf(out, "phase %c %" PRIu64 "\n", (char)letter, count);
    }
}

void dump_losses(mrd__writer *writer, bool with_place, mrd__buf *out)
{
    mrd__loss_vec all = {0};
    for (size_t i = 0; i < writer->shards.count; i++) {
        mrd__shard *shard = writer->shards.data[i];
        for (size_t l = 0; l < shard->losses.count; l++)
            mrd__loss_merge(&all, &shard->losses.data[l]);
    }
    for (int id = 0; id < MRD__LOSS_COUNT; id++) {
        for (unsigned letter = 0; letter < 128; letter++) {
            for (size_t i = 0; i < all.count; i++) {
                const mrd__loss *loss = &all.data[i];
                if ((int)loss->id != id || (unsigned char)loss->letter != letter) continue;
                mrd__buf_text(out, mrd__loss_info_of(loss->id)->name);
                if (letter != 0) mrd__buf_printf(out, " %c", (char)letter);
                mrd__buf_printf(out, " %" PRIu64, loss->count);
                if (with_place) {
                    mrd__buf_printf(out, " @%" PRId64 " ", loss->offset);
                    mrd__buf_json_string(out, mrd__str_of(loss->excerpt));
                }
                mrd__buf_char(out, '\n');
            }
        }
    }
    mrd__vec_reset(&all);
}

void dump_facts(mrd__writer *writer, const char *text, mrd__buf *out)
{
    pieces all = {0};
    collect(writer, &all);
    for (size_t i = 0; i < all.count; i++) {
        const mrd__chunk *chunk = &all.data[i].chunk;
        for (uint64_t f = chunk->first; f < chunk->end; f++)
            put_fact(out, all.data[i].shard, mrd__shard_fact(all.data[i].shard, f), text);
    }
    for (size_t i = 0; i < all.count; i++) {
        const mrd__chunk *chunk = &all.data[i].chunk;
        for (uint32_t m = chunk->metadata_first; m < chunk->metadata_end; m++) {
            const mrd__raw_metadata *row = &all.data[i].shard->metadata.data[m];
            mrd__buf_text(out, "meta ");
            mrd__buf_json_string(out, (mrd__str){row->key, row->key_size});
            mrd__buf_printf(out, " %u ", row->json_type);
            mrd__buf_json_string(out, (mrd__str){row->value, row->value_size});
            mrd__buf_char(out, '\n');
        }
    }
    put_counts(writer, out);
    dump_losses(writer, true, out);
    mrd__vec_reset(&all);
}
