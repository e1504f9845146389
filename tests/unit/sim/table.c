#include "table.h"

#include <stdio.h>
#include <string.h>

const char *table_open(mrd__buf *text, const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/../shared/cases/comm-sim/%s", MRD_SOURCE_DIR, name);
    if (!mrd__file_exists(path)) {
        fprintf(stderr, "skipped: %s is absent\n", path);
        return NULL;
    }
    if (mrd__file_read(text, path, 1 << 24, NULL) != MRD_OK) return NULL;
    char *line = strchr(text->data, '\n');
    return line ? line + 1 : NULL;
}

size_t table_row(char **at, char **fields, size_t max)
{
    char *line = *at, *end = strchr(line, '\n');
    size_t count = 0;
    if (*line == '\0') return 0;
    if (end) *end = '\0';
    *at = end ? end + 1 : line + strlen(line);
    for (char *field = line; field && count < max; count++) {
        fields[count] = field;
        field = strchr(field, ',');
        if (field) *field++ = '\0';
    }
    return count;
}
