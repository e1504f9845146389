/* After a crash: trace files of ours that no row names. A copy is made under its final name inside
 * the transaction that adds its row, so such a file is what a crash before the commit left. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/os.h"
#include "results/internal.h"

/* A file younger than this may belong to a transaction of another process that still runs. */
#define REPAIR_MIN_AGE_S 3600

/* {result_id}_trace.parquet and its temporary names; anything else is not ours. */
static bool is_ours(const char *name, int64_t *id)
{
    char *end;
    long long value = strtoll(name, &end, 10);
    *id = value;
    return end != name && value > 0 && strncmp(end, "_trace.parquet", 14) == 0;
}

static bool row_names(mrd__results *results, int64_t id, const char *relative)
{
    sqlite3_stmt *row;
    bool named = true; /* when in doubt keep the file */
    if (mrd__sql_prepare(results,
                         "SELECT 1 FROM comm_eval_results WHERE id = ? AND trace_file_path = ?",
                         &row, NULL) != MRD_OK)
        return true;
    sqlite3_bind_int64(row, 1, id);
    mrd__sql_bind_text(row, 2, mrd__str_of(relative));
    named = sqlite3_step(row) != SQLITE_DONE;
    sqlite3_finalize(row);
    return named;
}

static void repair_folder(mrd__results *results, const char *experiment)
{
    mrd__buf path = {0}, relative = {0};
    mrd__buf_printf(&path, "%s/traces/%s", results->data_dir, experiment);
    DIR *folder = opendir(path.data);
    time_t now = (time_t)(mrd__realtime_ns() / 1000000000);
    for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;) {
        int64_t id;
        struct stat info;
        if (!is_ours(entry->d_name, &id)) continue;
        mrd__buf_clear(&relative);
        mrd__buf_printf(&relative, "traces/%s/%s", experiment, entry->d_name);
        mrd__buf_clear(&path);
        mrd__buf_printf(&path, "%s/%s", results->data_dir, relative.data);
        if (lstat(path.data, &info) == 0 && S_ISREG(info.st_mode) &&
            now - info.st_mtime > REPAIR_MIN_AGE_S && !row_names(results, id, relative.data))
            unlink(path.data);
    }
    if (folder) closedir(folder);
    mrd__buf_reset(&path);
    mrd__buf_reset(&relative);
}

mrd_status mrd__results_repair(mrd__results *results, mrd_error *error)
{
    (void)error; /* a folder that cannot be read is not repaired; opening goes on */
    mrd__buf path = {0};
    mrd__buf_printf(&path, "%s/traces", results->data_dir);
    DIR *folder = opendir(path.data);
    for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;) {
        if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9')
            repair_folder(results, entry->d_name);
    }
    if (folder) closedir(folder);
    mrd__buf_reset(&path);
    return MRD_OK;
}
