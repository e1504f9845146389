// Calls that are not made here, each with what is used instead.
#include <string.h>

#include "tidy.h"

// Where a rule holds.
enum scope {
    everywhere,      // all C files
    outside_base,    // src/ without src/base/
    outside_program, // src/ without src/cli/
};

struct ban {
    const char *name;
    enum scope scope;
    const char *instead;
};

static const struct ban bans[] = {
    {"strcpy", everywhere, "mrd__buf_text, or memcpy with a checked size"},
    {"strcat", everywhere, "mrd__buf_text"},
    {"sprintf", everywhere, "mrd__buf_printf or snprintf"},
    {"vsprintf", everywhere, "mrd__buf_printf or vsnprintf"},
    {"gets", everywhere, "fgets"},
    {"strtok", everywhere, "strcspn and strspn"},
    {"atoi", everywhere, "mrd__parse_int64"},
    {"atol", everywhere, "mrd__parse_int64"},
    {"atoll", everywhere, "mrd__parse_int64"},
    {"atof", everywhere, "mrd__parse_double"},
    {"alloca", everywhere, "mrd__alloc or a fixed array"},
    {"rand", everywhere, "mrd__rng_next with a seed"},
    {"srand", everywhere, "mrd__rng with a seed"},
    {"random", everywhere, "mrd__rng_next with a seed"},
    {"system", everywhere, "fork and execve by base, without a shell"},
    {"popen", everywhere, "fork and execve by base, without a shell"},
    {"malloc", outside_base, "mrd__alloc"},
    {"calloc", outside_base, "mrd__calloc"},
    {"realloc", outside_base, "mrd__realloc"},
    {"free", outside_base, "mrd__free"},
    {"strdup", outside_base, "mrd__strndup"},
    {"strndup", outside_base, "mrd__strndup"},
    {"asprintf", outside_base, "mrd__buf_printf"},
    {"vasprintf", outside_base, "mrd__buf_printf"},
    {"aligned_alloc", outside_base, "mrd__pages_alloc"},
    {"posix_memalign", outside_base, "mrd__pages_alloc"},
    {"clock_gettime", outside_base, "mrd__monotonic_ns or mrd__realtime_ns"},
    {"gettimeofday", outside_base, "mrd__realtime_ns"},
    {"printf", outside_program, "mrd__buf_printf and a sink"},
    {"vprintf", outside_program, "mrd__buf_printf and a sink"},
    {"puts", outside_program, "mrd__buf_text and a sink"},
    {"putchar", outside_program, "mrd__buf_char and a sink"},
};

static bool in_scope(enum scope scope, const char *path)
{
    switch (scope) {
    case everywhere:
        return true;
    case outside_base:
        return has_prefix(path, "src/") && !has_prefix(path, "src/base/");
    case outside_program:
        return has_prefix(path, "src/") && !has_prefix(path, "src/cli/");
    }
    return false;
}

// True when the word is called as a function of that name: not a member, followed by '('.
static bool is_call(const char *code, size_t start, size_t end)
{
    while (code[end] == ' ' || code[end] == '\n')
        end++;
    if (code[end] != '(') return false;
    while (start > 0 && (code[start - 1] == ' ' || code[start - 1] == '\n'))
        start--;
    if (start > 0 && code[start - 1] == '.') return false;
    return !(start > 1 && code[start - 1] == '>' && code[start - 2] == '-');
}

static void check_word(const struct source *source, size_t start, size_t end)
{
    size_t size = end - start;
    const char *word = source->code + start;
    for (size_t i = 0; i < sizeof bans / sizeof *bans; i++) {
        const struct ban *ban = &bans[i];
        if (strlen(ban->name) == size && memcmp(word, ban->name, size) == 0 &&
            in_scope(ban->scope, source->path) && is_call(source->code, start, end)) {
            report(source->path, line_of(source, start), "banned: %s: use %s", ban->name,
                   ban->instead);
        }
    }
    if (size == 6 && memcmp(word, "stdout", 6) == 0 && in_scope(outside_program, source->path)) {
        report(source->path, line_of(source, start), "banned: stdout: use a sink");
    }
}

void check_banned(const struct source *source)
{
    if (!source->is_c) return;
    size_t i = 0;
    while (i < source->size) {
        if (!is_word(source->code[i])) {
            i++;
            continue;
        }
        size_t start = i;
        while (i < source->size && is_word(source->code[i]))
            i++;
        check_word(source, start, i);
    }
}
