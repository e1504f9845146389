/* Loads libduckdb on first use and opens the process's database. Both stay until the process ends:
 * closing a library whose threads may still run is not worth what it frees. */
#include "base/os.h"
#include "base/text.h"
#include "duck/api.h"
#include "duck/inside.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_SIZE 4096

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static mrd__duck_api table;
static bool loaded;
static duckdb_database database;

/* dlsym gives an object pointer; POSIX lets it hold a function's address. */
static bool look_up(void *library, const char *name, void *slot)
{
    void *address = dlsym(library, name);
    memcpy(slot, &address, sizeof address);
    return address != NULL;
}

static const char *fill_table(void *library)
{
#define LOOK_UP(name)                                                                              \
    if (!look_up(library, "duckdb_" #name, &table.name)) return "duckdb_" #name;
    MRD__DUCK_FUNCTIONS(LOOK_UP)
#undef LOOK_UP
    return NULL;
}

/* Appends why a place did not do. */
static bool try_place(const char *path, mrd__buf *tried)
{
    void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (!library) {
        mrd__buf_printf(tried, "%s%s", tried->size ? "; " : "", dlerror());
        return false;
    }
    const char *missing = fill_table(library);
    if (!missing) return true;
    mrd__buf_printf(tried, "%s%s: has no %s", tried->size ? "; " : "", path, missing);
    dlclose(library);
    return false;
}

static bool try_beside_program(mrd__buf *tried)
{
    char program[PATH_SIZE];
    ssize_t size = readlink("/proc/self/exe", program, sizeof program - 1);
    if (size <= 0) return false;
    program[size] = '\0';
    char *slash = strrchr(program, '/');
    if (!slash) return false;
    *slash = '\0';
    static const char *const places[] = {"", "/../lib/meridian", "/../lib"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char path[PATH_SIZE + 64];
        snprintf(path, sizeof path, "%s%s/libduckdb.so", program, places[i]);
        if (mrd__file_exists(path) && try_place(path, tried)) return true;
    }
    return false;
}

static bool load(mrd__buf *tried)
{
    const char *named = getenv("MRD_DUCKDB_LIB");
    if (named && *named) return try_place(named, tried);
    return try_place(MRD_DUCKDB_PATH, tried) || try_beside_program(tried) ||
           try_place("libduckdb.so", tried);
}

const mrd__duck_api *mrd__duck_api_get(mrd_error *error)
{
    mrd__buf tried = {0};
    pthread_mutex_lock(&lock);
    if (!loaded) loaded = load(&tried);
    bool ok = loaded;
    pthread_mutex_unlock(&lock);
    if (!ok) {
        mrd__fail(error, MRD_ERR_UNSUPPORTED, "no_duckdb",
                  "libduckdb.so is needed for Parquet and SQL and was not found: %s; run "
                  "tools/setup.sh or name the file in MRD_DUCKDB_LIB",
                  tried.data);
    }
    mrd__buf_reset(&tried);
    return ok ? &table : NULL;
}

duckdb_config mrd__duck_config(const mrd__duck_api *api)
{
    static const char *const settings[][2] = {
        {"autoinstall_known_extensions", "false"},
        {"autoload_known_extensions", "false"},
        {"enable_external_file_cache", "false"},
        {"preserve_insertion_order", "true"},
        {"temp_directory", ""},
    };
    duckdb_config config = NULL;
    if (api->create_config(&config) != DuckDBSuccess) return NULL;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        /* A setting that this version does not know is one it cannot do either. */
        (void)api->set_config(config, settings[i][0], settings[i][1]);
    }
    return config;
}

static bool register_rows(const mrd__duck_api *api)
{
    duckdb_connection connection = NULL;
    if (api->connect(database, &connection) != DuckDBSuccess) return false;
    bool ok = mrd__duck_register_rows(api, connection) && mrd__duck_register_take(api, connection);
    api->disconnect(&connection);
    return ok;
}

static mrd_status open_database(const mrd__duck_api *api, mrd_error *error)
{
    duckdb_config config = mrd__duck_config(api);
    char *reason = NULL;
    duckdb_state state = api->open_ext(NULL, &database, config, &reason);
    if (config) api->destroy_config(&config);
    if (state == DuckDBSuccess && register_rows(api)) return MRD_OK;
    if (database) api->close(&database);
    database = NULL;
    mrd_status status = mrd__fail(error, MRD_ERR_INTERNAL, "duckdb", "DuckDB did not open: %s",
                                  reason ? reason : "no reason given");
    if (reason) api->free(reason);
    return status;
}

mrd_status mrd__duck_database(duckdb_database *out, mrd_error *error)
{
    const mrd__duck_api *api = mrd__duck_api_get(error);
    if (!api) return MRD_ERR_UNSUPPORTED;
    pthread_mutex_lock(&lock);
    mrd_status status = database ? MRD_OK : open_database(api, error);
    *out = database;
    pthread_mutex_unlock(&lock);
    return status;
}

void mrd__duck_database_drop(duckdb_database broken)
{
    pthread_mutex_lock(&lock);
    /* Not closed: its threads are in an unknown state. Such errors are rare, the memory small. */
    if (database == broken) database = NULL;
    pthread_mutex_unlock(&lock);
}
