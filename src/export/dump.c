#include "export/export.h"
#include "export/tables.h"

#include "base/error.h"

#include <stdlib.h>

static const struct table {
    const char *name;
    const char *columns;
    mrd__table_fn write;
} tables[] = {
    {"slice",
     "id,pid,tid,process,thread,track,name,category,ts_ns,dur_ns,depth,row,parent,args,flags",
     mrd__dump_slices},
    {"instant", "id,scope,pid,tid,track,name,category,ts_ns,args", mrd__dump_instants},
    {"counter", "pid,track,series,ts_ns,value", mrd__dump_counters},
    {"flow",
     "category,name,id,from_slice,from_name,from_pid,from_tid,from_ts_ns,to_slice,to_name,to_pid,"
     "to_tid,to_ts_ns",
     mrd__dump_flows},
    {"process", "pid,name,names,sort_index,labels", mrd__dump_processes},
    {"thread", "pid,tid,name,sort_index", mrd__dump_threads},
    {"track", "id,parent,kind,name,pid,tid,rows,count", mrd__dump_tracks},
    {"args", "slice,key,type,value", mrd__dump_args},
    {"metadata", "key,value", mrd__dump_metadata},
    {"loss", MRD__LOSS_COLUMNS, mrd__dump_losses},
    {"machine", "id,raw_id,name,sysname,release,version,arch,num_cpus", mrd__dump_machines},
    {"track_origin", "track,machine,file", mrd__dump_track_origins},
    {"trace_file", "id,parent,path,format,bytes,container,machine,events", mrd__dump_files},
    {"clock_snapshot", "id,ts_ns,clock_id,clock_name,value_ns,snapshot,machine,file,source",
     mrd__dump_clock_values},
    {"event", "time_ns,category,component,value,detail_json", mrd__dump_events},
};
enum {
    TABLE_COUNT = sizeof tables / sizeof tables[0]
};

static mrd_status bad_table(const char *name, mrd_error *error)
{
    mrd__buf names = {0};
    for (size_t i = 0; i < TABLE_COUNT; i++)
        mrd__buf_printf(&names, "%s%s", i == 0 ? "" : ", ", tables[i].name);
    mrd_status status = mrd__fail(error, MRD_ERR_ARGUMENT, "bad_table",
                                  "there is no table \"%.64s\"; tables are %s", name, names.data);
    mrd__buf_reset(&names);
    return status;
}

mrd_status mrd__export_dump(const mrd__store *store, const char *table, mrd_format format,
                            const mrd_sink *sink, mrd_error *error)
{
    const struct table *found = NULL;
    for (size_t i = 0; i < TABLE_COUNT; i++) {
        if (mrd__str_is(mrd__str_of(table), tables[i].name)) found = &tables[i];
    }
    if (found == NULL) return bad_table(table, error);
    if (format != MRD_FORMAT_CSV && format != MRD_FORMAT_JSON)
        return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_format", "rows are written as csv or json");
    mrd__plain *plain = mrd__new(mrd__plain);
    mrd__plain_begin(plain, found->columns, format, sink);
    mrd_status status = found->write(store, plain, error);
    status = mrd__plain_finish(plain, status, error);
    mrd__free(plain);
    return status;
}

/* ---- Shared by the tables ---- */

uint32_t *mrd__by_rank(const uint32_t *rank, uint64_t count)
{
    uint32_t *out = mrd__alloc(count * sizeof *out);
    for (uint64_t i = 0; i < count; i++)
        out[rank[i]] = (uint32_t)i;
    return out;
}

mrd__track_ranges mrd__track_ranges_of(const mrd__store *store, mrd__track_kind kind)
{
    mrd__track_ranges ranges = {.first = mrd__new_array(uint64_t, store->track_count),
                                .track = mrd__new_array(uint32_t, store->track_count)};
    for (size_t t = 0; t < store->track_count; t++) {
        const mrd__track *track = &store->tracks[t];
        if (track->kind != kind || track->count == 0 || track->event_key != MRD__NONE) continue;
        size_t at = ranges.count++;
        /* Ranges mostly lie in track order already: insertion sort. */
        for (; at > 0 && ranges.first[at - 1] > track->first; at--) {
            ranges.first[at] = ranges.first[at - 1];
            ranges.track[at] = ranges.track[at - 1];
        }
        ranges.first[at] = track->first;
        ranges.track[at] = (uint32_t)t;
    }
    return ranges;
}

void mrd__track_ranges_reset(mrd__track_ranges *ranges)
{
    mrd__free(ranges->first);
    mrd__free(ranges->track);
    *ranges = (mrd__track_ranges){0};
}

uint32_t mrd__track_of(const mrd__track_ranges *ranges, uint64_t index)
{
    size_t low = 0;
    size_t high = ranges->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (ranges->first[middle] <= index)
            low = middle;
        else
            high = middle;
    }
    return ranges->track[low];
}
