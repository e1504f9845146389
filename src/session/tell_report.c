/* The report of a stored session in its forms. */
#include "base/error.h"
#include "session/engine.h"
#include "session/limits.h"
#include "session/replay.h"
#include "session/report_forms.h"
#include "session/walk.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

typedef struct facts {
    mrd__report_fact list[8];
    size_t count;
    mrd__buf texts[8];
} facts;

static mrd__buf *add_fact(facts *f, const char *name)
{
    f->list[f->count].name = mrd__str_of(name);
    return &f->texts[f->count++];
}

static void end_facts(facts *f)
{
    for (size_t i = 0; i < f->count; i++)
        f->list[i].value = (mrd__str){f->texts[i].data, f->texts[i].size};
}

static void add_words(mrd__buf *out, const char *word, const json_t *list)
{
    size_t i;
    json_t *item;
    if (json_array_size(list) == 0) return;
    if (out->size > 0) mrd__buf_text(out, ", ");
    mrd__buf_text(out, word);
    json_array_foreach(list, i, item) if (json_is_string(item))
    {
        mrd__buf_char(out, ' ');
        mrd__buf_text(out, json_string_value(item));
    }
}

static void add_target(facts *f, const json_t *target)
{
    mrd__buf *out = add_fact(f, "target");
    const json_t *pid = json_object_get(target, "pid");
    const json_t *ingest = json_object_get(target, "ingest");
    if (json_is_string(ingest)) mrd__buf_printf(out, "lines of %s", json_string_value(ingest));
    if (json_is_integer(pid))
        mrd__buf_printf(out, "process %lld", (long long)json_integer_value(pid));
    add_words(out, "program", json_object_get(target, "command"));
    if (json_is_true(json_object_get(target, "host")))
        mrd__buf_text(out, out->size > 0 ? ", the machine" : "the machine");
    add_words(out, "adapters", json_object_get(target, "adapters"));
}

static void add_start(facts *f, const json_t *clocks)
{
    const json_t *value = json_object_get(clocks, "realtimeNs");
    int64_t ns;
    struct tm parts;
    char text[64];
    if (!json_is_string(value) || !mrd__parse_int64(mrd__str_of(json_string_value(value)), &ns))
        return;
    time_t seconds = (time_t)(ns / 1000000000);
    if (gmtime_r(&seconds, &parts) == NULL) return;
    strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts);
    mrd__buf_text(add_fact(f, "recorded from"), text);
}

static void add_facts(facts *f, mrd__str identity)
{
    json_t *root = json_loadb(identity.data, identity.size, 0, NULL);
    const json_t *host = json_object_get(root, "host");
    const json_t *name = json_object_get(host, "name"), *kernel = json_object_get(host, "kernel");
    const json_t *version = json_object_get(root, "programVersion");
    add_target(f, json_object_get(root, "target"));
    if (json_is_string(name) && json_is_string(kernel))
        mrd__buf_printf(add_fact(f, "host"), "%s, Linux %s", json_string_value(name),
                        json_string_value(kernel));
    add_start(f, json_object_get(root, "startClocks"));
    if (json_is_string(version))
        mrd__buf_printf(add_fact(f, "recorded by"), "meridian %s", json_string_value(version));
    end_facts(f);
    json_decref(root);
}

/* ---- From raw ---- */

static void take_sample(void *ctx, const mrd__sample *sample)
{
    mrd__report_plots_sample(ctx, sample);
}

static mrd_status take_record(void *ctx, const mrd__record *record, mrd_error *error)
{
    return mrd__engine_take(ctx, record, error);
}

static mrd_status stored_report(const mrd__stored *stored, mrd__buf *out, mrd_error *error)
{
    char *path = mrd__files_join(mrd__stored_dir(stored), "report.json");
    mrd_status status = mrd__files_read(mrd__files_system(), path, out, MRD__DOCUMENT_MAX, error);
    mrd__free(path);
    return status;
}

/* What is shown must be what was sealed. */
static mrd_status check_same(const mrd__stored *stored, const mrd__engine *engine, mrd_error *error)
{
    if (!mrd__stored_sealed(stored)) return MRD_OK;
    mrd__buf sealed = {0}, made = {0};
    mrd_status status = stored_report(stored, &sealed, error);
    mrd__session_report_json(mrd__engine_report(engine), &made);
    if (status == MRD_OK &&
        (sealed.size != made.size || memcmp(sealed.data, made.data, made.size) != 0)) {
        status = mrd__fail(error, MRD_ERR_FORMAT, "report_differs",
                           "raw does not give the stored report: see meridian verify and replay");
        status = mrd__fail_at(error, status, mrd__stored_dir(stored), -1);
    }
    mrd__buf_reset(&sealed);
    mrd__buf_reset(&made);
    return status;
}

static void fill_head(const mrd__stored *stored, const facts *f, const char *uuid,
                      mrd__report_head *head)
{
    const mrd__sealed *manifest = &stored->manifest;
    *head =
        (mrd__report_head){.session = mrd__str_of(uuid), .facts = f->list, .fact_count = f->count};
    if (!stored->sealed) return;
    head->seal = manifest->completed ? MRD__REPORT_COMPLETED : MRD__REPORT_INCOMPLETE;
    head->reasons = mrd__str_of(manifest->reasons);
}

static void render(const mrd__stored *stored, const mrd__engine *engine,
                   const mrd__report_plots *plots, mrd_report_form form, mrd__buf *out)
{
    char uuid[37];
    facts f = {0};
    mrd__report_head head;
    mrd__report_view view;
    mrd__uuid_text(stored->uuid, uuid);
    add_facts(&f, mrd__stored_identity(stored));
    fill_head(stored, &f, uuid, &head);
    mrd__session_report_view(mrd__engine_report(engine), &view);
    if (form == MRD_REPORT_JSON)
        mrd__session_report_json(mrd__engine_report(engine), out);
    else if (form == MRD_REPORT_HTML)
        mrd__report_html(&head, &view, plots, out);
    else if (form == MRD_REPORT_MARKDOWN)
        mrd__report_markdown(&head, &view, out);
    else
        mrd__report_text(&head, &view, out);
    mrd__report_view_reset(&view);
    for (size_t i = 0; i < f.count; i++)
        mrd__buf_reset(&f.texts[i]);
}

static mrd_status make(mrd__stored *stored, mrd_report_form form, mrd__buf *out, mrd_error *error)
{
    mrd__damage torn;
    MRD__TRY(mrd__session_check_definitions(stored, error));
    mrd__report_plots *plots = form == MRD_REPORT_HTML ? mrd__report_plots_create() : NULL;
    mrd__engine_sink sink = {.ctx = plots, .sample = plots != NULL ? take_sample : NULL};
    mrd__engine *engine = mrd__engine_create(&sink);
    mrd_status status = mrd__stored_read(stored, take_record, engine, &torn, error);
    if (status == MRD_OK) status = check_same(stored, engine, error);
    if (status == MRD_OK) render(stored, engine, plots, form, out);
    mrd__engine_destroy(&engine);
    mrd__report_plots_destroy(&plots);
    return status;
}

mrd_status mrd__session_tell_report(const char *dir, mrd_report_form form, mrd__buf *out,
                                    mrd_error *error)
{
    mrd__stored *stored;
    MRD__TRY(mrd__stored_open(dir, NULL, &stored, error));
    mrd_status status = form == MRD_REPORT_JSON && mrd__stored_sealed(stored)
                            ? stored_report(stored, out, error)
                            : make(stored, form, out, error);
    mrd__stored_close(&stored);
    return status;
}
