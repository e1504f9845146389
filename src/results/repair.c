/* After a crash. A file gets its final name inside the transaction that adds its row, and this
 * runs inside one too (there is one at a time): a file of ours under a final name that no row
 * names is what a crash before the commit left. A run writes under the name of its process; where
 * that is gone, so is the run. Rows whose file is gone are told, and stay. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "results/files.h"

/* {result_id}_trace.parquet, {result_id}_records.parquet and their temporary names. */
static bool is_final(const char *name, int64_t *id)
{
    char *end;
    *id = strtoll(name, &end, 10);
    return end != name && *id > 0 &&
           (strncmp(end, "_trace.parquet", 14) == 0 || strncmp(end, "_records.parquet", 16) == 0);
}

static bool row_names(mrd__results *results, int64_t experiment, int64_t id)
{
    int64_t there;
    bool found;
    mrd__buf name = {0};
    mrd__trace_name(experiment, id, &name);
    mrd__db_value values[] = {MRD__DB_OF_INT(id),
                              MRD__DB_OF_TEXT(((mrd__str){name.data, name.size}))};
    mrd_status status = mrd__db_int(
        results->db, "SELECT 1 FROM comm_eval_results WHERE id = ? AND trace_file_path = ?", values,
        2, &there, &found, NULL);
    mrd__buf_reset(&name);
    return status != MRD_OK || found; /* when in doubt keep the file */
}

static bool is_orphan(mrd__results *results, int64_t experiment, const char *name)
{
    int64_t id;
    if (is_final(name, &id))
        return strstr(name, ".parquet.tmp-") || !row_names(results, experiment, id);
    if (strncmp(name, "run-", 4) != 0) return false;
    char owner[MRD__OWNER] = {0};
    size_t size = strcspn(name + 4, "_");
    if (size >= sizeof owner) return false;
    memcpy(owner, name + 4, size);
    return !mrd__owner_alive(owner);
}

static void repair_folder(mrd__results *results, const char *experiment)
{
    mrd__buf path = {0};
    int64_t number;
    if (!mrd__parse_int64(mrd__str_of(experiment), &number) || number < 1) return;
    mrd__buf_printf(&path, "%s/traces/%s", results->data_dir, experiment);
    DIR *folder = opendir(path.data);
    for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;) {
        struct stat info;
        if (!is_orphan(results, number, entry->d_name)) continue;
        mrd__buf_clear(&path);
        mrd__buf_printf(&path, "%s/traces/%s/%s", results->data_dir, experiment, entry->d_name);
        if (lstat(path.data, &info) != 0 || !S_ISREG(info.st_mode) || unlink(path.data) != 0)
            continue;
        mrd__buf_printf(&results->report, "removed %s, which no result names\n", path.data);
    }
    if (folder) closedir(folder);
    mrd__buf_reset(&path);
}

static mrd_status find_dangling(mrd__results *results, mrd_error *error)
{
    mrd__db_rows *rows = NULL;
    mrd__buf path = {0};
    bool more, own;
    MRD__TRY(mrd__db_query(results->db,
                           "SELECT id, trace_file_path FROM comm_eval_results WHERE "
                           "trace_file_path IS NOT NULL ORDER BY id",
                           NULL, 0, &rows, error));
    mrd_status status;
    while ((status = mrd__db_next(rows, &more, error)) == MRD_OK && more) {
        mrd__str stored = mrd__db_value_at(rows, 1, MRD__DB_TEXT).text;
        if (mrd__results_resolve(results, stored, &path, &own, NULL) == MRD_OK &&
            mrd__file_exists(path.data))
            continue;
        mrd__buf_printf(&results->report, "result %lld: its trace %.*s is gone\n",
                        (long long)mrd__db_value_at(rows, 0, MRD__DB_INT).integer, (int)stored.size,
                        stored.data);
    }
    mrd__db_end(rows);
    mrd__buf_reset(&path);
    return status;
}

mrd_status mrd__results_repair(mrd__results *results, mrd_error *error)
{
    /* A folder that cannot be read is not repaired; opening goes on. */
    mrd__buf path = {0};
    mrd__buf_printf(&path, "%s/traces", results->data_dir);
    DIR *folder = mrd__owns_traces(results) ? opendir(path.data) : NULL;
    for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;)
        repair_folder(results, entry->d_name);
    if (folder) closedir(folder);
    mrd__buf_reset(&path);
    return find_dangling(results, error);
}
