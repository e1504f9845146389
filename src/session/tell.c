/* What verifying, replaying and recovering found, for people and for programs. */
#include "base/error.h"
#include "base/os.h"
#include "session/check.h"
#include "session/replay.h"
#include "session/session.h"

/* ---- Verify ---- */

static void add_damage(mrd__buf *out, const mrd__damage *damage)
{
    mrd__buf_text(out, "{\"file\":");
    mrd__buf_json_string(out, mrd__str_of(damage->file));
    mrd__buf_printf(out, ",\"from\":%llu,\"to\":%llu,\"what\":", (unsigned long long)damage->from,
                    (unsigned long long)damage->to);
    mrd__buf_json_string(out, mrd__str_of(damage->what));
    mrd__buf_char(out, '}');
}

static void verify_json(const mrd__verify_result *result, mrd__buf *out)
{
    mrd__buf_printf(out, "{\"sound\":%s,\"sealed\":%s,\"state\":\"%s\"",
                    result->sound ? "true" : "false", result->sealed ? "true" : "false",
                    result->completed ? "completed" : "incomplete");
    mrd__buf_text(out, ",\"reasons\":");
    mrd__buf_json_string(out, mrd__str_of(result->reasons));
    mrd__buf_printf(out, ",\"files\":%llu,\"segments\":%llu,\"bytes\":%llu",
                    (unsigned long long)result->files, (unsigned long long)result->segments,
                    (unsigned long long)result->bytes);
    mrd__buf_printf(out, ",\"records\":%llu,\"lastSequence\":%llu,\"merkleRoot\":\"%s\"",
                    (unsigned long long)result->records, (unsigned long long)result->sequences,
                    result->merkle_root);
    mrd__buf_text(out, ",\"damage\":");
    if (result->sound)
        mrd__buf_text(out, "null");
    else
        add_damage(out, &result->damage);
    mrd__buf_text(out, "}\n");
}

static void verify_text(const mrd__verify_result *result, mrd__buf *out)
{
    if (!result->sound)
        mrd__buf_printf(out, "damaged: %s, bytes %llu to %llu: %s\n", result->damage.file,
                        (unsigned long long)result->damage.from,
                        (unsigned long long)result->damage.to, result->damage.what);
    else
        mrd__buf_printf(out, "sound: every byte is as it was %s\n",
                        result->sealed ? "sealed" : "written");
    if (!result->sealed)
        mrd__buf_text(out, "not sealed: not completed; see meridian session recover\n");
    else if (result->completed)
        mrd__buf_text(out, "sealed as completed\n");
    else
        mrd__buf_printf(out, "sealed as incomplete: %s\n", result->reasons);
    mrd__buf_printf(out,
                    "%llu records, last sequence %llu, %llu segments, %llu files, %llu bytes\n",
                    (unsigned long long)result->records, (unsigned long long)result->sequences,
                    (unsigned long long)result->segments, (unsigned long long)result->files,
                    (unsigned long long)result->bytes);
    if (result->merkle_root[0] != '\0')
        mrd__buf_printf(out, "Merkle root %s\n", result->merkle_root);
}

mrd_status mrd__session_tell_verify(const char *dir, bool json, mrd__buf *out, bool *sound,
                                    mrd_error *error)
{
    mrd__verify_result result = {0};
    MRD__TRY(mrd__session_verify(dir, NULL, &result, error));
    *sound = result.sound;
    if (json)
        verify_json(&result, out);
    else
        verify_text(&result, out);
    return MRD_OK;
}

/* ---- Replay ---- */

mrd_status mrd__session_tell_replay(const char *dir, bool json, mrd__buf *out, bool *equal,
                                    mrd_error *error)
{
    mrd__replay_result result;
    MRD__TRY(mrd__session_replay(dir, NULL, &result, error));
    *equal = result.equal;
    if (json) {
        mrd__buf_printf(out, "{\"equal\":%s,\"records\":%llu,\"samples\":%llu",
                        result.equal ? "true" : "false", (unsigned long long)result.records,
                        (unsigned long long)result.samples);
        mrd__buf_text(out, ",\"difference\":");
        if (result.equal)
            mrd__buf_text(out, "null}\n");
        else
            mrd__buf_printf(
                out, "{\"file\":\"%s\",\"offset\":%llu,\"storedBytes\":%llu,\"madeBytes\":%llu}}\n",
                result.file, (unsigned long long)result.offset,
                (unsigned long long)result.stored_size, (unsigned long long)result.made_size);
    } else if (result.equal) {
        mrd__buf_printf(out, "equal: events, %llu samples and report of %llu records, every byte\n",
                        (unsigned long long)result.samples, (unsigned long long)result.records);
    } else {
        mrd__buf_printf(out, "different: %s at byte %llu (stored %llu bytes, replayed %llu)\n",
                        result.file, (unsigned long long)result.offset,
                        (unsigned long long)result.stored_size,
                        (unsigned long long)result.made_size);
    }
    return MRD_OK;
}

/* ---- Recover ---- */

mrd_status mrd__session_tell_recover(const char *dir, bool json, mrd__buf *out, mrd_error *error)
{
    mrd__recover_result result = {0};
    mrd__damage damage = {0};
    MRD__TRY(mrd__session_recover(dir, NULL, mrd__session_rederive, NULL, &result, &damage, error));
    if (json) {
        mrd__buf_printf(out, "{\"wasSealed\":%s,\"lastSequence\":%llu,\"records\":%llu",
                        result.was_sealed ? "true" : "false", (unsigned long long)result.sequences,
                        (unsigned long long)result.records);
        mrd__buf_printf(out, ",\"cutBytes\":%llu,\"cut\":", (unsigned long long)result.cut_bytes);
        if (result.cut_bytes > 0)
            add_damage(out, &result.cut);
        else
            mrd__buf_text(out, "null");
        mrd__buf_text(out, "}\n");
    } else if (result.was_sealed) {
        mrd__buf_text(out, "sealed before: nothing to do\n");
    } else {
        mrd__buf_printf(out, "recovered up to sequence %llu: %llu records, sealed as incomplete\n",
                        (unsigned long long)result.sequences, (unsigned long long)result.records);
        if (result.cut_bytes > 0)
            mrd__buf_printf(out, "cut: %llu bytes of %s from byte %llu on: %s\n",
                            (unsigned long long)result.cut_bytes, result.cut.file,
                            (unsigned long long)result.cut.from, result.cut.what);
    }
    return MRD_OK;
}
