// Texts that do not belong into the repository: leftover markers, merge marks, hosts of package
// registries (set-up names packages, never where they come from).
#include <stdio.h>
#include <string.h>

#include "tidy.h"

// Written in pieces, so that this file does not find itself.
static const char *const markers[] = {"TO"
                                      "DO",
                                      "FIX"
                                      "ME",
                                      "HA"
                                      "CK",
                                      "XX"
                                      "X"};
static const char *const merge_marks[] = {"<<<<"
                                          "<<< ",
                                          ">>>>"
                                          ">>> "};
// Words that betray a package registry when they stand in the host of an address.
static const char *const host_words[] = {"registry",    "npmjs",        "npmmirror", "yarnpkg",
                                         "pypi",        "pythonhosted", "crates",    "mirror",
                                         "artifactory", "debian"};

static void check_markers(const struct source *source)
{
    for (size_t m = 0; m < sizeof markers / sizeof *markers; m++) {
        size_t length = strlen(markers[m]);
        for (const char *at = source->text; (at = strstr(at, markers[m])); at += length) {
            bool whole = (at == source->text || !is_word(at[-1])) && !is_word(at[length]);
            if (whole) {
                report(source->path, line_of(source, (size_t)(at - source->text)),
                       "leftover: %s: do it now or file it", markers[m]);
            }
        }
    }
    for (size_t m = 0; m < sizeof merge_marks / sizeof *merge_marks; m++) {
        for (const char *at = source->text; (at = strstr(at, merge_marks[m])); at++) {
            if (at == source->text || at[-1] == '\n') {
                report(source->path, line_of(source, (size_t)(at - source->text)),
                       "leftover: merge mark");
            }
        }
    }
}

static void check_host(const struct source *source, const char *host, size_t length)
{
    char name[256];
    if (length >= sizeof name) return;
    memcpy(name, host, length);
    name[length] = 0;
    for (size_t w = 0; w < sizeof host_words / sizeof *host_words; w++) {
        if (strstr(name, host_words[w])) {
            report(source->path, line_of(source, (size_t)(host - source->text)),
                   "host: %s looks like a package registry: name the package, not the host", name);
            return;
        }
    }
}

static void check_hosts(const struct source *source)
{
    for (const char *at = source->text; (at = strstr(at, "://")); at += 3) {
        size_t length = strcspn(at + 3, "/:\"'`)>\\ \t\r\n");
        check_host(source, at + 3, length);
    }
}

void check_texts(const struct source *source)
{
    check_hosts(source);
    if (!has_suffix(source->path, ".json")) check_markers(source);
}
