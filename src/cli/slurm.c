/* A job array that runs a sweep: each task runs its share of the runs with --resume, so that a task
 * may be run twice, and the array again, without a result twice. The script is whole: sbatch takes
 * it again by hand. */
#include "cli/slurm.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/os.h"

#define SAID_MAX 65536 /* bytes of what sbatch says */

typedef struct submission {
    const mrd__cli *cli;
    uint64_t runs, tasks, at_a_time;
    char program[PATH_MAX], data[PATH_MAX];
    mrd__buf store, folder, script; /* store: empty where it is the data folder's */
} submission;

/* ---- The script ---- */

static void quoted(mrd__buf *out, const char *text)
{
    mrd__buf_char(out, '\'');
    for (; *text; text++)
        if (*text == '\'')
            mrd__buf_text(out, "'\\''");
        else
            mrd__buf_char(out, *text);
    mrd__buf_char(out, '\'');
}

static void option(mrd__buf *out, const char *name, const char *value)
{
    if (!value) return;
    mrd__buf_printf(out, " --%s ", name);
    quoted(out, value);
}

static void write_script(const submission *s, mrd__buf *out)
{
    const mrd__cli *cli = s->cli;
    const char *jobs = mrd__cli_value(cli, "jobs");
    const char *partition = mrd__cli_value(cli, "partition");
    unsigned long long tasks = s->tasks;
    mrd__buf_printf(out, "#!/bin/sh\n#SBATCH --job-name=meridian-sweep\n#SBATCH --array=0-%llu",
                    tasks - 1);
    if (s->at_a_time) mrd__buf_printf(out, "%%%llu", (unsigned long long)s->at_a_time);
    mrd__buf_printf(out, "\n#SBATCH --chdir=\"%s\"\n#SBATCH --output=%%A_%%a.log\n",
                    s->folder.data);
    mrd__buf_printf(out, "#SBATCH --cpus-per-task=%s\n", jobs ? jobs : "1");
    if (partition) mrd__buf_printf(out, "#SBATCH --partition=%s\n", partition);
    mrd__buf_printf(out,
                    "# %llu runs. A task leaves out what the store has: submit this file again to "
                    "try again what failed.\nexec ",
                    (unsigned long long)s->runs);
    quoted(out, s->program);
    mrd__buf_printf(out,
                    " sim sweep spec.json --part \"$SLURM_ARRAY_TASK_ID/%llu\" --resume --jobs %s",
                    tasks, jobs ? jobs : "1");
    option(out, "data", s->data);
    option(out, "store", s->store.size ? s->store.data : NULL);
    option(out, "experiment", mrd__cli_value(cli, "experiment"));
    option(out, "trace-limit", mrd__cli_value(cli, "trace-limit"));
    mrd__buf_char(out, '\n');
}

/* ---- Where things are ---- */

/* Absolute: tasks run elsewhere. */
static mrd_status find_places(submission *s, mrd_error *error)
{
    mrd__buf data = {0};
    const char *store = mrd__cli_value(s->cli, "store");
    char resolved[PATH_MAX];
    ssize_t size = readlink("/proc/self/exe", s->program, sizeof s->program - 1);
    if (size < 0) return mrd__fail_errno(error, "/proc/self/exe", "cannot read");
    s->program[size] = '\0';
    mrd__cli_data_dir(s->cli, &data);
    const char *found = realpath(data.data, s->data);
    mrd__buf_reset(&data);
    if (!found) return mrd__fail_errno(error, "--data", "cannot resolve");
    if (store && strstr(store, "://"))
        mrd__buf_text(&s->store, store);
    else if (store && realpath(store, resolved))
        mrd__buf_text(&s->store, resolved);
    else if (store)
        return mrd__fail_errno(error, store, "cannot resolve");
    if (strpbrk(s->data, "\"\\\n%"))
        return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_path",
                         "--data is %s: a job script cannot name a folder with one of \" \\ %%",
                         s->data);
    return MRD_OK;
}

static mrd_status read_options(submission *s, mrd_error *error)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,-";
    const char *partition = mrd__cli_value(s->cli, "partition");
    if (!partition || (partition[0] && partition[strspn(partition, allowed)] == '\0'))
        return MRD_OK;
    return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_parameter",
                     "--partition is %s, allowed are letters, digits and _ . , -", partition);
}

static mrd_status write_files(submission *s, const mrd__buf *spec, mrd_error *error)
{
    uint64_t random;
    mrd__buf path = {0}, text = {0};
    mrd__random_bytes(&random, sizeof random);
    mrd__buf_printf(&s->folder, "%s/slurm/sweep-%016llx", s->data, (unsigned long long)random);
    mrd__buf_printf(&s->script, "%s/job.sh", s->folder.data);
    mrd__buf_printf(&path, "%s/spec.json", s->folder.data);
    write_script(s, &text);
    mrd_status status = mrd__make_folders(s->folder.data, error);
    if (status == MRD_OK) status = mrd__file_write_atomic(path.data, spec->data, spec->size, error);
    if (status == MRD_OK)
        status = mrd__file_write_atomic(s->script.data, text.data, text.size, error);
    /* The store's URL may hold a password. */
    if (status == MRD_OK && chmod(s->script.data, 0700) != 0)
        status = mrd__fail_errno(error, s->script.data, "cannot change the mode of");
    mrd__buf_reset(&path);
    mrd__buf_reset(&text);
    return status;
}

/* Nothing of a job that was not taken stays. */
static void remove_files(const submission *s)
{
    static const char *const names[] = {"spec.json", "job.sh", "said", "refused"};
    mrd__buf path = {0};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        mrd__buf_clear(&path);
        mrd__buf_printf(&path, "%s/%s", s->folder.data, names[i]);
        unlink(path.data);
    }
    rmdir(s->folder.data);
    mrd__buf_reset(&path);
}

/* ---- sbatch ---- */

/* Runs sbatch with its outputs in two files; its exit code in *code. */
static mrd_status spawn_sbatch(const submission *s, const char *said, const char *refused,
                               int *code, mrd_error *error)
{
    char *argv[] = {(char *)"sbatch", (char *)"--parsable", s->script.data, NULL};
    posix_spawn_file_actions_t files;
    pid_t child;
    int status = 0, flags = O_WRONLY | O_CREAT | O_TRUNC;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, said, flags, 0600);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, refused, flags, 0600);
    int failed = posix_spawnp(&child, "sbatch", &files, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    if (failed == ENOENT)
        return mrd__fail(error, MRD_ERR_NOT_FOUND, "no_sbatch",
                         "sbatch is not in PATH: --slurm needs the commands of Slurm");
    if (failed)
        return mrd__fail(error, MRD_ERR_IO, "no_sbatch", "cannot run sbatch: %s", strerror(failed));
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    *code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    return MRD_OK;
}

/* What stands in a small file, without line ends at its end; "" where there is none. */
static void read_said(const char *path, mrd__buf *out)
{
    if (mrd__file_read(out, path, SAID_MAX, NULL) != MRD_OK) mrd__buf_clear(out);
    while (out->size && strchr("\r\n ", out->data[out->size - 1]))
        out->data[--out->size] = '\0';
    for (size_t i = 0; i < out->size; i++)
        if (out->data[i] == '\n') out->data[i] = ' ';
    if (!out->data) mrd__buf_text(out, "");
}

static mrd_status submit(submission *s, mrd__buf *job, mrd_error *error)
{
    mrd__buf said = {0}, refused = {0}, why = {0};
    int code = 0;
    mrd__buf_printf(&said, "%s/said", s->folder.data);
    mrd__buf_printf(&refused, "%s/refused", s->folder.data);
    mrd_status status = spawn_sbatch(s, said.data, refused.data, &code, error);
    if (status == MRD_OK) {
        read_said(said.data, job);
        read_said(refused.data, &why);
        unlink(said.data);
        unlink(refused.data);
        if (code != 0)
            status =
                mrd__fail(error, MRD_ERR_STATE, "sbatch_failed", "sbatch ended with %d: %.1000s",
                          code, why.size ? why.data : "it said nothing");
        else if (why.size)
            mrd__cli_say("%s", why.data);
    }
    mrd__buf_reset(&said);
    mrd__buf_reset(&refused);
    mrd__buf_reset(&why);
    return status;
}

static void tell(const submission *s, mrd__buf *job, mrd__buf *out)
{
    char *cluster = job->size ? strchr(job->data, ';') : NULL; /* 17;name */
    if (cluster) *cluster = '\0';
    unsigned long long runs = s->runs, tasks = s->tasks;
    if (!mrd__cli_has(s->cli, "json")) {
        mrd__buf_printf(out, "job %s: %llu runs in %llu tasks, %s\n", job->data, runs, tasks,
                        s->script.data);
        return;
    }
    mrd__buf_text(out, "{\"job_id\":");
    mrd__buf_json_string(out, mrd__str_of(job->data));
    mrd__buf_printf(out, ",\"runs\":%llu,\"tasks\":%llu,\"script\":", runs, tasks);
    mrd__buf_json_string(out, mrd__str_of(s->script.data));
    mrd__buf_text(out, "}\n");
}

static mrd_status prepare_and_submit(submission *s, const mrd__buf *spec, mrd__buf *out,
                                     mrd_error *error)
{
    mrd__buf job = {0};
    MRD__TRY(read_options(s, error));
    MRD__TRY(mrd_sim_sweep_size(spec->data, spec->size, &s->runs, error));
    s->tasks = s->runs < MRD__SLURM_TASKS_MAX ? s->runs : MRD__SLURM_TASKS_MAX;
    MRD__TRY(find_places(s, error));
    mrd_status status = write_files(s, spec, error);
    if (status == MRD_OK) status = submit(s, &job, error);
    if (status == MRD_OK)
        tell(s, &job, out);
    else
        remove_files(s);
    mrd__buf_reset(&job);
    return status;
}

int mrd__slurm_submit(const mrd__cli *cli, const mrd__buf *spec)
{
    submission s = {.cli = cli};
    mrd__buf out = {0};
    mrd_error error = {0};
    if (!mrd__cli_uint(cli, "max-jobs", 1, MRD__SLURM_TASKS_MAX, &s.at_a_time))
        return MRD__EXIT_USAGE;
    mrd_status status = prepare_and_submit(&s, spec, &out, &error);
    mrd__buf_reset(&s.store);
    mrd__buf_reset(&s.folder);
    mrd__buf_reset(&s.script);
    if (status == MRD_OK) return mrd__cli_print(&out);
    mrd__buf_reset(&out);
    return mrd__cli_fail_spec(cli, &error);
}
