/* meridian-metrics docs|definitions: prints docs/metrics.md, or the line of each metric's meaning
 * for tests/unit/session/definitions.txt. Used by tools/metrics.sh. */
#include "session/registry.h"

#include <stdio.h>
#include <string.h>

static void definitions(mrd__buf *out)
{
    size_t count;
    const mrd__metric *rows = mrd__registry(&count);
    for (size_t i = 0; i < count; i++) {
        char hash[65];
        mrd__registry_hash(&rows[i], hash);
        mrd__buf_printf(out, "%s %s %s %s\n", rows[i].id, rows[i].kind, rows[i].definition_version,
                        hash);
    }
}

int main(int argc, char **argv)
{
    mrd__buf out = {0};
    const char *what = argc == 2 ? argv[1] : "";
    if (strcmp(what, "docs") == 0) {
        mrd__registry_document(&out);
    } else if (strcmp(what, "definitions") == 0) {
        definitions(&out);
    } else {
        fprintf(stderr, "meridian-metrics: \"%s\", allowed is docs or definitions\n", what);
        return 2;
    }
    bool good = fwrite(out.data, 1, out.size, stdout) == out.size && fflush(stdout) == 0;
    mrd__buf_reset(&out);
    return good ? 0 : 1;
}
