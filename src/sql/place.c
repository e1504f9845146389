/* What stands in front of a statement, and where DuckDB says an error is. */
#include "sql/place.h"

#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- In front ---- */

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

/* Behind white space and comments. */
static size_t skip_blank(mrd__str text, size_t at)
{
    for (;;) {
        while (at < text.size && is_space(text.data[at]))
            at++;
        if (at + 1 < text.size && text.data[at] == '-' && text.data[at + 1] == '-') {
            while (at < text.size && text.data[at] != '\n')
                at++;
#ifdef MRD_PLANTED_BUGS /* what the fuzzer of statements must find */
        } else if (at < text.size && text.data[at] == '/' && text.data[at + 1] == '*') {
#else
        } else if (at + 1 < text.size && text.data[at] == '/' && text.data[at + 1] == '*') {
#endif
            const char *end = memmem(text.data + at + 2, text.size - at - 2, "*/", 2);
            if (end == NULL) return text.size;
            at = (size_t)(end - text.data) + 2;
        } else {
            return at;
        }
    }
}

/* Behind the word, where it stands at `at`; else `at`. */
static size_t skip_word(mrd__str text, size_t at, const char *word)
{
    size_t size = strlen(word);
    if (text.size - at < size || strncasecmp(text.data + at, word, size) != 0) return at;
    char next = at + size < text.size ? text.data[at + size] : ' ';
    bool goes_on = next == '_' || (next >= '0' && next <= '9') || (next >= 'a' && next <= 'z') ||
                   (next >= 'A' && next <= 'Z');
    return goes_on ? at : at + size;
}

static bool skip_words(mrd__str text, size_t *at, const char *const *words)
{
    size_t now = *at;
    for (; *words != NULL; words++) {
        now = skip_blank(text, now);
        size_t next = skip_word(text, now, *words);
        if (next == now) return false;
        now = next;
    }
    *at = now;
    return true;
}

size_t mrd__sql_skip_includes(mrd__str text)
{
    static const char *const words[] = {"INCLUDE", "PERFETTO", "MODULE", NULL};
    size_t at = 0;
    for (;;) {
        size_t next = skip_blank(text, at);
        if (!skip_words(text, &next, words)) return at;
        while (next < text.size && text.data[next] != ';')
            next++;
        at = next < text.size ? next + 1 : next;
    }
}

size_t mrd__sql_explained(mrd__str text)
{
    size_t at = skip_blank(text, 0);
    size_t next = skip_word(text, at, "EXPLAIN");
    if (next == at) return 0;
    next = skip_blank(text, next);
    next = skip_blank(text, skip_word(text, next, "ANALYZE"));
    if (next < text.size && text.data[next] == '(') {
        size_t inside = skip_blank(text, next + 1);
        bool option = skip_word(text, inside, "ANALYZE") != inside ||
                      skip_word(text, inside, "FORMAT") != inside;
        while (option && next < text.size && text.data[next] != ')')
            next++;
        if (option && next < text.size) next++;
    }
    return next;
}

/* Behind a quoted text that begins at `at`; a quote in it stands twice. */
static size_t skip_quoted(mrd__str text, size_t at)
{
    char mark = text.data[at++];
    while (at < text.size && text.data[at] != mark)
        at++;
    return at < text.size ? at + 1 : at;
}

void mrd__sql_strip_end(mrd__buf *buf)
{
    mrd__str text = {buf->data, buf->size};
    size_t end = 0; /* behind the last byte that counts */
    for (size_t at = 0; at < text.size;) {
        size_t next = skip_blank(text, at);
        if (next != at) {
            at = next;
        } else if (text.data[at] == ';') {
            at++;
        } else {
            at = text.data[at] == '\'' || text.data[at] == '"' ? skip_quoted(text, at) : at + 1;
            end = at;
        }
    }
    if (end == buf->size) return;
    buf->size = end;
    buf->data[end] = '\0';
}

/* ---- Where ---- */

/* Where line `number` (from 1) begins. */
static size_t line_start(mrd__str text, long number)
{
    size_t at = 0;
    while (number > 1 && at < text.size) {
        if (text.data[at++] == '\n') number--;
    }
    return at;
}

/* DuckDB shows the line and a mark below it; a long line is cut on both sides.
 *   LINE 2: ...and name = 'x' FORM slice where...
 *                             ^                     */
int64_t mrd__sql_place(mrd__str text, const char *message)
{
    const char *head = strstr(message, "\nLINE ");
    if (head == NULL) return -1;
    char *colon;
    long number = strtol(head + 6, &colon, 10);
    if (colon[0] != ':' || colon[1] != ' ') return -1;
    const char *shown = colon + 2;
    const char *shown_end = strchr(shown, '\n');
    const char *mark = shown_end != NULL ? strchr(shown_end, '^') : NULL;
    ptrdiff_t indent = shown - (head + 1);
    if (mark == NULL || mark - (shown_end + 1) < indent) return -1;
    size_t column = (size_t)(mark - (shown_end + 1) - indent);
    size_t start = line_start(text, number);
    if (strncmp(shown, "...", 3) != 0) return (int64_t)(start + column);
    size_t size = (size_t)(shown_end - shown) - 3;
    if (size > 3 && memcmp(shown_end - 3, "...", 3) == 0) size -= 3;
    const char *found =
        start < text.size ? memmem(text.data + start, text.size - start, shown + 3, size) : NULL;
    return found == NULL || column < 3 ? -1 : (int64_t)(found - text.data) + (int64_t)column - 3;
}
