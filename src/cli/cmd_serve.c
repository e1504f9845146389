#include "cli/cli.h"

#include "base/os.h"
#include "server/server.h"

#include <sys/stat.h>

/* data_dir: NULL for none. */
static int run_server(const mrd__cli *cli, const char *data_dir, bool browser)
{
    mrd_open_options how;
    if (!mrd__cli_open_options(cli, &how)) return MRD__EXIT_USAGE;
    mrd__server_options options = {
        .listen = mrd__cli_value(cli, "listen"),
        .data_dir = data_dir,
        .store_url = mrd__cli_value(cli, "store"),
        .paths = cli->operands.data,
        .path_count = cli->operands.count,
        .token = mrd__cli_value(cli, "token"),
        .threads = how.threads,
        .how = &how,
        .no_cache = !how.cache,
        .verify_cache = how.verify_cache,
        .open_browser = browser,
    };
    mrd_error error = {0};
    mrd_status status = mrd__server_run(&options, &error);
    return status == MRD_OK ? MRD__EXIT_DONE : mrd__cli_fail(&error);
}

int mrd__cmd_serve(const mrd__cli *cli)
{
    mrd__buf folder = {0};
    mrd__cli_data_dir(cli, &folder);
    int code = run_server(cli, folder.data, false);
    mrd__buf_reset(&folder);
    return code;
}

int mrd__cmd_open(const mrd__cli *cli)
{
    /* A file that is not there is said here, before there is a page to say it. Folders of tables
     * and sessions are asked when they are opened. */
    for (size_t i = 0; i < cli->operands.count; i++) {
        char first;
        size_t got;
        mrd_error error = {0};
        struct stat info;
        if (stat(cli->operands.data[i], &info) == 0 && S_ISDIR(info.st_mode)) continue;
        if (mrd__file_head(cli->operands.data[i], &first, 1, &got, &error) != MRD_OK)
            return mrd__cli_fail(&error);
    }
    /* A look at a file makes no folders: the result store is there only when it is asked for. */
    return run_server(cli, mrd__cli_value(cli, "data"), !mrd__cli_has(cli, "no-browser"));
}
