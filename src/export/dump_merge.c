/* Tables about where a trace comes from: files, machines, clocks. */
#include "export/tables.h"

#include "base/error.h"

mrd_status mrd__dump_machines(const mrd__store *store, mrd__plain *plain, mrd_error *error)
{
    for (size_t m = 0; m < store->machine_count; m++) {
        const mrd__machine *machine = &store->machines[m];
        mrd__plain_uint(plain, m);
        mrd__plain_int(plain, machine->raw_id);
        mrd__plain_name(plain, store, machine->name);
        mrd__plain_name(plain, store, machine->sysname);
        mrd__plain_name(plain, store, machine->release);
        mrd__plain_name(plain, store, machine->version);
        mrd__plain_name(plain, store, machine->arch);
        if (machine->num_cpus != 0)
            mrd__plain_uint(plain, machine->num_cpus);
        else
            mrd__plain_null(plain);
        MRD__TRY(mrd__plain_row(plain, error));
    }
    return MRD_OK;
}

mrd_status mrd__dump_track_origins(const mrd__store *store, mrd__plain *plain, mrd_error *error)
{
    for (size_t t = 0; t < store->track_count; t++) {
        mrd__plain_uint(plain, t);
        mrd__plain_uint(plain, store->tracks[t].machine);
        mrd__plain_uint(plain, store->tracks[t].file);
        MRD__TRY(mrd__plain_row(plain, error));
    }
    return MRD_OK;
}

/* Files that were asked for have no name, as in the original; members have theirs. */
mrd_status mrd__dump_files(const mrd__store *store, mrd__plain *plain, mrd_error *error)
{
    for (size_t f = 0; f < store->file_count; f++) {
        const mrd__file *file = &store->files[f];
        bool trace = file->clock != NULL;
        mrd__plain_uint(plain, f);
        mrd__plain_index(plain, file->parent == 0 ? MRD__NONE : file->parent - 1);
        mrd__plain_text(plain, mrd__str_of(file->path));
        mrd__plain_text(plain, mrd__str_of(file->format));
        mrd__plain_uint(plain, file->bytes);
        mrd__plain_uint(plain, file->container);
        mrd__plain_index(plain, trace ? file->machine : MRD__NONE);
        mrd__plain_uint(plain, file->events);
        MRD__TRY(mrd__plain_row(plain, error));
    }
    return MRD_OK;
}

mrd_status mrd__dump_clock_values(const mrd__store *store, mrd__plain *plain, mrd_error *error)
{
    for (size_t i = 0; i < store->clock_value_count; i++) {
        const mrd__clock_value *value = &store->clock_values[i];
        const mrd__clock *clock = &store->clocks[value->clock];
        const char *name = mrd__clock_name(clock->id);
        mrd__plain_uint(plain, i);
        if (value->has_ts)
            mrd__plain_int(plain, value->ts_ns);
        else
            mrd__plain_null(plain);
        mrd__plain_uint(plain, clock->id);
        if (name != NULL)
            mrd__plain_text(plain, mrd__str_of(name));
        else
            mrd__plain_null(plain);
        mrd__plain_int(plain, value->value_ns);
        mrd__plain_uint(plain, value->snapshot);
        mrd__plain_uint(plain, clock->machine);
        mrd__plain_text(plain, mrd__str_of(store->files[clock->file].path));
        mrd__plain_text(plain,
                        mrd__str_of(mrd__clock_origin_name((mrd__clock_origin)value->origin)));
        MRD__TRY(mrd__plain_row(plain, error));
    }
    return MRD_OK;
}
