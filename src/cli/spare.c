/* An output must not take the place of an input: the input is mapped while it is written, and
 * permissions do not stop whoever runs as root. */
#include "cli/cli.h"

#include "base/text.h"

#include <string.h>
#include <sys/stat.h>

/* Cut a path to the folder that holds what it names; "." for a bare name, "/" stays. */
static void to_parent(mrd__buf *path)
{
    size_t size = path->size;
    while (size > 1 && path->data[size - 1] == '/')
        size--;
    while (size > 0 && path->data[size - 1] != '/')
        size--;
    while (size > 1 && path->data[size - 1] == '/')
        size--;
    path->size = size;
    path->data[size] = '\0';
    if (size == 0) mrd__buf_char(path, '.');
}

static bool is_top(const mrd__buf *path)
{
    return path->size == 1 && (path->data[0] == '.' || path->data[0] == '/');
}

static bool same_file(const char *a, const char *b)
{
    struct stat one, other;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

/* Whether writing out would change in: it is the same, lies in a folder that is read, or is the
 * folder of a table that is read. Through links, too. */
static bool spoils(const char *out, const char *in)
{
    mrd__buf at = {0};
    mrd__buf_text(&at, out);
    bool hit = same_file(out, in);
    while (!hit && !is_top(&at)) {
        to_parent(&at);
        hit = same_file(at.data, in);
    }
    if (!hit && mrd__text_ends(out, "/") && mrd__text_ends(in, ".parquet")) {
        mrd__buf_clear(&at);
        mrd__buf_text(&at, in);
        to_parent(&at);
        hit = same_file(out, at.data);
    }
    mrd__buf_reset(&at);
    return hit;
}

bool mrd__cli_spares_inputs(const mrd__cli *cli, const char *out, size_t inputs)
{
    const char *manifest = mrd__cli_value(cli, "manifest");
    for (size_t i = 0; i < inputs + (manifest != NULL); i++) {
        const char *in = i < inputs ? cli->operands.data[i] : manifest;
        if (!spoils(out, in)) continue;
        mrd__cli_usage(cli, "%s: the output would overwrite the input %s, allowed is another name",
                       out, in);
        return false;
    }
    return true;
}
