// Files of at most 1,000 lines, functions of at most 70, lines of at most 100 columns.
#include <stdio.h>
#include <string.h>

#include "tidy.h"

enum {
    file_lines_max = 1000,
    function_lines_max = 70,
    columns_max = 100,
};

// Of scripts for the page eslint counts the columns (it can tell a long string).
static bool has_columns_rule(const struct source *source)
{
    return source->is_c || has_suffix(source->path, ".sh") || has_suffix(source->path, ".cmake") ||
           has_suffix(source->path, "CMakeLists.txt") || has_suffix(source->path, "Makefile");
}

static void check_lines(const struct source *source)
{
    int line = 1, columns = 0;
    bool too_long = false;
    for (size_t i = 0; i < source->size; i++) {
        unsigned char c = (unsigned char)source->text[i];
        if (c == '\n') {
            line++;
            columns = 0;
            too_long = false;
            continue;
        }
        if (c == '\t' && source->is_c) report(source->path, line, "tab: indent with 4 spaces");
        columns += (c & 0xc0) != 0x80; // code points, not bytes
        if (columns > columns_max && !too_long && has_columns_rule(source)) {
            report(source->path, line, "line: longer than %d columns", columns_max);
            too_long = true;
        }
    }
    if (line - 1 > file_lines_max && (source->is_c || source->is_script)) {
        report(source->path, 0, "file: %d lines, allowed are %d: split it", line - 1,
               file_lines_max);
    }
}

// The code with preprocessor lines (and their continuations) turned to blanks.
static char *without_directives(const struct source *source)
{
    char *code = keep_text(source->code, source->size);
    bool at_start = true, in_directive = false;
    for (size_t i = 0; i < source->size; i++) {
        if (code[i] == '\n') {
            bool goes_on = in_directive && i > 0 && source->text[i - 1] == '\\';
            in_directive = goes_on;
            at_start = true;
            continue;
        }
        if (at_start && code[i] == '#') in_directive = true;
        if (code[i] != ' ' && code[i] != '\t') at_start = false;
        if (in_directive) code[i] = ' ';
    }
    return code;
}

// The name before the first parenthesis of a signature.
static void function_name(const char *code, size_t from, size_t to, char *out, size_t size)
{
    size_t open = from;
    while (open < to && code[open] != '(')
        open++;
    size_t end = open;
    while (end > from && !is_word(code[end - 1]))
        end--;
    size_t start = end;
    while (start > from && is_word(code[start - 1]))
        start--;
    snprintf(out, size, "%.*s", (int)(end - start), code + start);
}

static void check_functions(const struct source *source)
{
    const char *code = without_directives(source);
    int depth = 0, line = 1, start_line = 0;
    size_t start = 0;
    bool in_function = false, in_statement = false;
    char last = 0, name[128] = "";
    for (size_t i = 0; i < source->size; i++) {
        char c = code[i];
        line += c == '\n';
        if (c == ' ' || c == '\t' || c == '\n') continue;
        if (depth == 0 && !in_statement && c != ';' && c != '}') {
            in_statement = true;
            start = i;
            start_line = line;
        }
        if (c == '{' && depth == 0 && last == '"') { // extern "C" {
            in_statement = false;
        } else if (c == '{' && depth++ == 0) {
            in_function = last == ')';
            if (in_function) function_name(code, start, i, name, sizeof name);
        } else if (c == '}' && depth > 0 && --depth == 0 && in_function) {
            int lines = line - start_line + 1;
            if (lines > function_lines_max) {
                report(source->path, start_line, "function: %s has %d lines, allowed are %d", name,
                       lines, function_lines_max);
            }
            in_statement = in_function = false;
        } else if (c == ';' && depth == 0) {
            in_statement = false;
        }
        last = c;
    }
}

void check_lengths(const struct source *source)
{
    if (source->is_generated) return;
    check_lines(source);
    if (source->is_c) check_functions(source);
}
