/* Interned texts and defaults of a sequence. */
#include "ingest/perfetto/state.h"

static void intern_text(mrd__pf *pf, mrd__pf_sequence *sequence, mrd__pf_kind kind,
                        mrd__str message)
{
    uint64_t iid = 0;
    mrd__str text = {0};
    mrd__pb at = mrd__pb_of(message);
    for (mrd__pb_field f; mrd__pb_next(&at, &f);) {
        if (f.key == PB_VARINT(ENTRY_IID)) iid = f.value;
        if (f.key == PB_BYTES(ENTRY_TEXT)) text = f.bytes;
    }
    /* 0 in the map means unknown: the empty text is kept as the id behind all others. */
    *mrd__pf_map_at(&sequence->interned, kind, 0, iid) = mrd__pf_string(pf, text) + 1;
}

static void intern_source(mrd__pf *pf, mrd__pf_sequence *sequence, mrd__str message)
{
    uint64_t iid = 0;
    uint64_t line = 0;
    uint32_t file = 0;
    uint32_t function = 0;
    mrd__pb at = mrd__pb_of(message);
    for (mrd__pb_field f; mrd__pb_next(&at, &f);) {
        if (f.key == PB_VARINT(SOURCE_IID)) iid = f.value;
        if (f.key == PB_BYTES(SOURCE_FILE)) file = mrd__pf_string(pf, f.bytes);
        if (f.key == PB_BYTES(SOURCE_FUNCTION)) function = mrd__pf_string(pf, f.bytes);
        if (f.key == PB_VARINT(SOURCE_LINE)) line = f.value;
    }
    mrd__vec_push(&sequence->sources, file);
    mrd__vec_push(&sequence->sources, function);
    mrd__vec_push(&sequence->sources, line);
    *mrd__pf_map_at(&sequence->interned, MRD__PF_SOURCE, 0, iid) =
        (uint32_t)(sequence->sources.count / 3);
}

/* Places in machine code that nobody turned into names. */
static void intern_native(mrd__pf_sequence *sequence, mrd__str message)
{
    uint64_t iid = 0;
    uint64_t mapping = 0;
    uint64_t address = 0;
    mrd__pb at = mrd__pb_of(message);
    for (mrd__pb_field f; mrd__pb_next(&at, &f);) {
        if (f.key == PB_VARINT(ENTRY_IID)) iid = f.value;
        if (f.key == PB_VARINT(NATIVE_MAPPING)) mapping = f.value;
        if (f.key == PB_VARINT(NATIVE_ADDRESS)) address = f.value;
    }
    mrd__vec_push(&sequence->sources, mapping);
    mrd__vec_push(&sequence->sources, address);
    mrd__vec_push(&sequence->sources, 0);
    *mrd__pf_map_at(&sequence->interned, MRD__PF_NATIVE, 0, iid) =
        (uint32_t)(sequence->sources.count / 3);
}

void mrd__pf_intern(mrd__pf *pf, mrd__pf_sequence *sequence, mrd__str message)
{
    mrd__pb at = mrd__pb_of(message);
    for (mrd__pb_field f; mrd__pb_next(&at, &f);) {
        switch (f.key) {
        case PB_BYTES(INTERNED_CATEGORIES):
            intern_text(pf, sequence, MRD__PF_CATEGORY, f.bytes);
            break;
        case PB_BYTES(INTERNED_EVENT_NAMES):
            intern_text(pf, sequence, MRD__PF_EVENT_NAME, f.bytes);
            break;
        case PB_BYTES(INTERNED_ANNOTATION_NAMES):
            intern_text(pf, sequence, MRD__PF_ANNOTATION_NAME, f.bytes);
            break;
        case PB_BYTES(INTERNED_STRING_VALUES):
            intern_text(pf, sequence, MRD__PF_STRING_VALUE, f.bytes);
            break;
        case PB_BYTES(INTERNED_VALUE_TYPES):
            intern_text(pf, sequence, MRD__PF_VALUE_TYPE, f.bytes);
            break;
        case PB_BYTES(INTERNED_LOG_BODIES):
            intern_text(pf, sequence, MRD__PF_LOG_BODY, f.bytes);
            break;
        case PB_BYTES(INTERNED_NATIVE):
            intern_native(sequence, f.bytes);
            break;
        case PB_BYTES(INTERNED_SOURCES):
            intern_source(pf, sequence, f.bytes);
            break;
        default:
            break;
        }
    }
    if (at.bad) mrd__pf_loss(pf, MRD__LOSS_BAD_PACKET, "interned data");
}

uint32_t mrd__pf_interned(mrd__pf *pf, mrd__pf_sequence *sequence, mrd__pf_kind kind, uint64_t iid)
{
    uint32_t value = mrd__pf_map_find(&sequence->interned, kind, 0, iid);
    if (value != 0) return value - 1;
    mrd__buf_clear(&pf->text);
    mrd__buf_text(&pf->text, "unknown(");
    mrd__buf_uint(&pf->text, iid);
    mrd__buf_char(&pf->text, ')');
    mrd__pf_loss(pf, MRD__LOSS_UNKNOWN_INTERNED, pf->text.data);
    return mrd__shard_string(pf->shard, pf->text.data, pf->text.size, (uint64_t)pf->offset);
}

static void add_uuids(mrd__pf_list *list, const mrd__pb_field *field)
{
    if ((field->key & 7) == 0) {
        mrd__vec_push(list, field->value);
        return;
    }
    mrd__pb packed = mrd__pb_of(field->bytes);
    for (uint64_t value; mrd__pb_varint(&packed, &value);)
        mrd__vec_push(list, value);
}

static void event_defaults(mrd__pf_sequence *sequence, mrd__str message)
{
    mrd__pb at = mrd__pb_of(message);
    for (mrd__pb_field f; mrd__pb_next(&at, &f);) {
        switch (f.key) {
        case PB_VARINT(EVENT_DEFAULTS_TRACK_UUID):
            sequence->has_track = true;
            sequence->track_uuid = f.value;
            break;
        case PB_VARINT(EVENT_DEFAULTS_COUNTER_UUIDS):
        case PB_BYTES(EVENT_DEFAULTS_COUNTER_UUIDS):
            add_uuids(&sequence->counter_uuids, &f);
            break;
        case PB_VARINT(EVENT_DEFAULTS_DOUBLE_UUIDS):
        case PB_BYTES(EVENT_DEFAULTS_DOUBLE_UUIDS):
            add_uuids(&sequence->double_uuids, &f);
            break;
        default:
            break;
        }
    }
}

/* Later defaults replace earlier ones as a whole. */
void mrd__pf_defaults(mrd__pf *pf, mrd__pf_sequence *sequence, mrd__str message)
{
    sequence->has_track = sequence->has_clock = false;
    sequence->counter_uuids.count = sequence->double_uuids.count = 0;
    mrd__pb at = mrd__pb_of(message);
    for (mrd__pb_field f; mrd__pb_next(&at, &f);) {
        if (f.key == PB_BYTES(DEFAULTS_TRACK_EVENT)) event_defaults(sequence, f.bytes);
        if (f.key != PB_VARINT(DEFAULTS_CLOCK_ID)) continue;
        sequence->has_clock = true;
        sequence->clock_id = (uint32_t)f.value;
    }
    if (at.bad) mrd__pf_loss(pf, MRD__LOSS_BAD_PACKET, "defaults");
}
