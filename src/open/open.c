#include "open/open.h"

#include "base/error.h"
#include "base/json.h"
#include "model/limits.h"
#include "open/plan.h"
#include "open/ranks.h"
#include "open/read.h"
#include "open/seal.h"

#include <string.h>

/* The manifest of the options is one of the files. */
static bool manifest_is_new(const char *const *paths, size_t count, const mrd_open_options *options)
{
    if (options == NULL || options->manifest == NULL) return false;
    for (size_t i = 0; i < count; i++)
        if (strcmp(paths[i], options->manifest) == 0) return false;
    return true;
}

static mrd_status open_inputs(const char *const *paths, size_t count,
                              const mrd_open_options *options, uint32_t threads,
                              mrd__inputs *inputs, mrd_error *error)
{
    const char **all = mrd__new_array(const char *, count + 1);
    memcpy(all, paths, count * sizeof *all);
    if (manifest_is_new(paths, count, options)) all[count++] = options->manifest;
    const char *text = options != NULL ? options->manifest_text : NULL;
    mrd_status status = mrd__inputs_open(all, count, text, threads, inputs, error);
    mrd__free(all);
    MRD__TRY(status);
    if (options == NULL) return MRD_OK;
    const char *named = text != NULL ? MRD__MANIFEST_TEXT : options->manifest;
    for (size_t i = 0; named != NULL && i < inputs->list.count; i++) {
        const mrd__input *input = &inputs->list.data[i];
        if (strcmp(input->path, named) != 0 || input->manifest) continue;
        status = mrd__fail(error, MRD_ERR_FORMAT, "bad_manifest",
                           "no manifest but %s, allowed is {\"meridian_manifest\": {...}} or "
                           "{\"perfetto_manifest\": {...}}",
                           input->format);
        return mrd__fail_at(error, status, input->path, -1);
    }
    return MRD_OK;
}

/* Attributes of the manifest are metadata of the trace. */
static void keep_attributes(const mrd__plan *plan, mrd__writer *writer)
{
    if (plan->manifest.attributes.count == 0) return;
    mrd__shard *shard = mrd__writer_shard(writer, plan->manifest_input);
    mrd__shard_chunk(shard, 0);
    for (size_t i = 0; i < plan->manifest.attributes.count; i++) {
        const mrd__manifest_attribute *one = &plan->manifest.attributes.data[i];
        mrd__buf key = {0};
        mrd__buf text = {0};
        mrd__buf_printf(&key, "manifest_attribute.%s", one->key);
        mrd__utf8_repair(&text, mrd__str_of(one->text));
        mrd__shard_metadata(shard, (mrd__str){key.data, key.size},
                            (mrd__str){text.data != NULL ? text.data : "", text.size},
                            one->number ? MRD__JSON_NUMBER : MRD__JSON_STRING);
        mrd__buf_reset(&key);
        mrd__buf_reset(&text);
    }
}

static void take_options(mrd__plan *plan, const mrd_open_options *options)
{
    if (options == NULL) return;
    static const mrd__align align[] = {[MRD_ALIGN_REALTIME] = MRD__ALIGN_REALTIME,
                                       [MRD_ALIGN_START] = MRD__ALIGN_START,
                                       [MRD_ALIGN_COLLECTIVES] = MRD__ALIGN_COLLECTIVES,
                                       [MRD_ALIGN_NONE] = MRD__ALIGN_NONE};
    plan->merge.align = align[options->align];
    plan->merge.linear |= options->clock_linear;
}

static mrd_status open_all(mrd__inputs *inputs, mrd__plan *plan, const mrd_open_options *options,
                           uint32_t threads, mrd__store **out, mrd_error *error)
{
    MRD__TRY(mrd__plan_make(plan, inputs, error));
    take_options(plan, options);
    mrd__writer *writer = mrd__writer_create();
    mrd_status status = mrd__read_inputs(inputs, options, threads, writer, error);
    if (status == MRD_OK) status = mrd__plan_check(plan, inputs, writer, error);
    if (status == MRD_OK) {
        keep_attributes(plan, writer);
        mrd__name_ranks(writer);
        mrd__writer_plan(writer, &plan->merge);
        return mrd__seal(&writer, threads, out, error);
    }
    mrd__writer_destroy(&writer);
    return status;
}

mrd_status mrd__open(const char *const *paths, size_t count, const mrd_open_options *options,
                     mrd__store **out, mrd_error *error)
{
    *out = NULL;
    if (count == 0)
        return mrd__fail(error, MRD_ERR_ARGUMENT, "no_files", "no file given, at least 1 needed");
    if (count > MRD__FILES_MAX)
        return mrd__fail(error, MRD_ERR_LIMIT, "too_many_files",
                         "%zu files given, a trace takes at most %u", count, MRD__FILES_MAX);
    uint32_t threads = options != NULL ? options->threads : 0;
    if (threads == 0) threads = mrd__cores();
    mrd__inputs inputs = {0};
    mrd__plan plan = {0};
    mrd__pages_keep();
    mrd_status status = open_inputs(paths, count, options, threads, &inputs, error);
    if (status == MRD_OK) status = open_all(&inputs, &plan, options, threads, out, error);
    mrd__plan_reset(&plan);
    mrd__inputs_reset(&inputs);
    mrd__pages_done();
    return status;
}
