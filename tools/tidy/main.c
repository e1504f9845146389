// tidy [--root FOLDER] [--layers RULES] < list of files, one a line, relative to the root
// Prints one line a violation; exit code 1 when there is any.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tidy.h"

static int violations;

void report(const char *path, int line, const char *format, ...)
{
    violations++;
    printf("%s:", path);
    if (line > 0) printf("%d:", line);
    printf(" ");
    va_list args;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
}

static bool is_checked(const char *path)
{
    static const char *const endings[] = {
        ".c",    ".h",   ".ts",   ".tsx", ".js",   ".sh",    ".awk", ".cmake",   ".txt",      ".md",
        ".json", ".css", ".html", ".yml", ".toml", ".npmrc", "run",  "Makefile", "Dockerfile"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        if (has_suffix(path, endings[i])) return true;
    }
    return false;
}

static void load(struct sources *sources, const char *root, const char *path)
{
    struct source source = {.path = keep_text(path, strlen(path))};
    source.text = read_file(root, path, &source.size);
    if (!source.text) return; // listed by git, deleted in the working tree
    prepare(&source);
    if (sources->count % 256 == 0) {
        struct source *more = keep((sources->count + 256) * sizeof *more);
        if (sources->count) memcpy(more, sources->items, sources->count * sizeof *more);
        sources->items = more;
    }
    sources->items[sources->count++] = source;
}

int main(int argc, char **argv)
{
    const char *root = ".", *layers = NULL;
    for (int i = 1; i < argc; i += 2) {
        if (strcmp(argv[i], "--root") == 0 && i + 1 < argc) {
            root = argv[i + 1];
        } else if (strcmp(argv[i], "--layers") == 0 && i + 1 < argc) {
            layers = argv[i + 1];
        } else {
            fprintf(stderr, "usage: tidy [--root FOLDER] [--layers RULES] < list of files\n");
            return 2;
        }
    }
    struct sources sources = {0};
    char line[4096];
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        if (line[0] && is_checked(line)) load(&sources, root, line);
    }
    for (size_t i = 0; i < sources.count; i++) {
        check_lengths(&sources.items[i]);
        check_banned(&sources.items[i]);
        check_texts(&sources.items[i]);
    }
    if (layers) check_layers(&sources, layers);
    return violations > 0;
}
