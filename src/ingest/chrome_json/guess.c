/* Where an event probably begins: a '{' behind a comma that has a key "ph" of its own. Inside a
 * string quotes are escaped, and objects inside args close before any "ph" comes; what is wrong all
 * the same is found when the chunks are joined. */
#include "ingest/chrome_json/fast.h"

#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* Behind the string whose quote stands at `at`; size when it does not end. */
static size_t string_end(const char *text, size_t size, size_t at)
{
    for (at++; at < size && text[at] != '"'; at++)
        at += text[at] == '\\';
    return at < size ? at + 1 : size;
}

static bool is_phase_key(const char *text, size_t size, size_t at, size_t end)
{
    if (end - at != 4 || memcmp(text + at, "\"ph\"", 4) != 0) return false;
    while (end < size && is_blank(text[end]))
        end++;
    return end < size && text[end] == ':';
}

/* Has the object at `at` a key "ph"? *seen grows by the bytes that were looked at. */
static bool has_phase(const char *text, size_t size, size_t at, size_t *seen)
{
    size_t from = at, depth = 0;
    bool found = false;
    while (at < size && !found) {
        char c = text[at];
        if (c == '"') {
            size_t end = string_end(text, size, at);
            found = depth == 1 && is_phase_key(text, size, at, end);
            at = end;
            continue;
        }
        at++;
        if (c == '{' || c == '[') depth++;
        if ((c == '}' || c == ']') && --depth == 0) break;
    }
    *seen += at - from;
    return found;
}

size_t mrd__cj_guess_event(const char *text, size_t size, size_t limit, char before)
{
    size_t seen = 0;
    for (size_t at = 0; at < limit && seen <= size; at++) {
        char c = text[at];
        if (c == '{' && before == ',' && has_phase(text, size, at, &seen)) return at;
        if (!is_blank(c)) before = c;
    }
    return SIZE_MAX;
}
