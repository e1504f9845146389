/* The prompt of `query`: editing and history by libedit, names of tables and columns by Tab. */
#include "cli/query.h"

#include "base/os.h"

#include <ctype.h>
#include <histedit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#define HISTORY_LINES 1000 /* kept from one call to the next */
#define SHOWN 40           /* names shown at most when a word can be completed in many ways */

typedef struct prompt {
    const mrd__asking *asking;
    EditLine *edit;
    History *history;
    mrd__buf sql; /* of the statement so far */
    mrd__buf words;
    MRD__VEC(const char *) names; /* sorted, in words */
} prompt;

/* ---- Names ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Everything a word can become, read from the catalog at the first Tab. */
static void load_names(prompt *p)
{
    static const char sql[] =
        "SELECT DISTINCT n FROM (SELECT view_name AS n FROM duckdb_views() WHERE NOT internal "
        "UNION ALL SELECT column_name FROM duckdb_columns() WHERE NOT internal "
        "UNION ALL SELECT unnest(['SELECT', 'FROM', 'WHERE', 'GROUP BY', 'ORDER BY', 'LIMIT', "
        "'JOIN', 'LEFT JOIN', 'USING', 'extract_arg', 'count', 'sum', 'EXPLAIN']))";
    mrd_query *query = NULL;
    mrd_error error = {0};
    mrd_sink sink = mrd__buf_sink(&p->words);
    bool more = true;
    mrd_status status = mrd_query_start(p->asking->trace, sql, sizeof sql - 1, MRD_FORMAT_CSV,
                                        &p->asking->options, &query, &error);
    while (status == MRD_OK && more)
        status = mrd_query_step(query, &sink, &more, &error);
    mrd_query_finish(&query);
    char *at = p->words.data;
    char *end = at != NULL ? strchr(at, '\n') : NULL; /* behind the header */
    while (end != NULL) {
        at = end + 1;
        end = strchr(at, '\n');
        if (end == NULL) break;
        *end = '\0';
        mrd__vec_push(&p->names, at);
    }
    if (p->names.count > 0) qsort(p->names.data, p->names.count, sizeof *p->names.data, by_name);
}

/* Length of what all names that begin with the word have in common. */
static size_t common_part(const prompt *p, const char *word, size_t size, const char **first,
                          size_t *matches)
{
    size_t common = 0;
    *matches = 0;
    for (size_t i = 0; i < p->names.count; i++) {
        const char *name = p->names.data[i];
        if (strncasecmp(name, word, size) != 0) continue;
        if ((*matches)++ == 0) {
            *first = name;
            common = strlen(name);
        }
        while (common > size && strncmp(name, *first, common) != 0)
            common--;
    }
    return common;
}

static void show_matches(const prompt *p, const char *word, size_t size)
{
    size_t shown = 0;
    fputc('\n', stderr);
    for (size_t i = 0; i < p->names.count && shown <= SHOWN; i++) {
        if (strncasecmp(p->names.data[i], word, size) != 0) continue;
        fprintf(stderr, "%s%s", shown > 0 ? "  " : "", shown == SHOWN ? "..." : p->names.data[i]);
        shown++;
    }
    fputc('\n', stderr);
}

static unsigned char complete(EditLine *edit, int key)
{
    (void)key;
    prompt *p = NULL;
    el_get(edit, EL_CLIENTDATA, &p);
    if (p->names.count == 0) load_names(p);
    const LineInfo *line = el_line(edit);
    const char *word = line->cursor;
    while (word > line->buffer && (isalnum((unsigned char)word[-1]) || word[-1] == '_'))
        word--;
    size_t size = (size_t)(line->cursor - word);
    const char *first = NULL;
    size_t matches;
    size_t common = common_part(p, word, size, &first, &matches);
    if (matches == 0 || size == 0) return CC_REFRESH_BEEP;
    if (common == size && matches > 1) {
        show_matches(p, word, size);
        return CC_REDISPLAY;
    }
    char *rest = mrd__strndup(first, common);
    el_deletestr(edit, (int)size);
    int status = el_insertstr(edit, rest);
    mrd__free(rest);
    return status == 0 ? CC_REFRESH : CC_REFRESH_BEEP;
}

/* ---- Lines ---- */

static char *prompt_text(EditLine *edit)
{
    static char first[] = "meridian> ";
    static char more[] = "     ...> ";
    prompt *p = NULL;
    el_get(edit, EL_CLIENTDATA, &p);
    return p->sql.size == 0 ? first : more;
}

/* $XDG_STATE_HOME/meridian/sql-history or ~/.local/state/...; empty: none is kept. */
static void history_path(mrd__buf *out)
{
    const char *state = getenv("XDG_STATE_HOME");
    const char *home = getenv("HOME");
    if (state != NULL && state[0] == '/')
        mrd__buf_printf(out, "%s/meridian", state);
    else if (home != NULL && home[0] == '/')
        mrd__buf_printf(out, "%s/.local/state/meridian", home);
    else
        return;
    if (mrd__make_folders(out->data, NULL) == MRD_OK)
        mrd__buf_text(out, "/sql-history");
    else
        mrd__buf_clear(out);
}

static bool is_word(const char *line, const char *word)
{
    size_t size = strlen(word);
    return strncmp(line, word, size) == 0 && strspn(line + size, " \t\r\n;") == strlen(line + size);
}

/* False: the user wants to leave. */
static bool take_line(prompt *p, const char *line)
{
    HistEvent event;
    if (p->sql.size == 0 && (is_word(line, ".quit") || is_word(line, ".exit") ||
                             is_word(line, "quit") || is_word(line, "exit")))
        return false;
    if (p->sql.size == 0 && is_word(line, ".tables"))
        line = "SELECT view_name AS \"table\" FROM duckdb_views() WHERE NOT internal ORDER BY 1;\n";
    mrd__buf_text(&p->sql, line);
    if (!mrd__query_has_words(p->sql.data, p->sql.size)) mrd__buf_clear(&p->sql);
    if (p->sql.size == 0 || !mrd__query_is_whole(p->sql.data, p->sql.size)) return true;
    history(p->history, &event, H_ENTER, p->sql.data);
    (void)mrd__query_run(p->asking, p->sql.data, p->sql.size);
    fflush(stdout);
    mrd__buf_clear(&p->sql);
    return true;
}

static void begin(prompt *p, const mrd__buf *path)
{
    HistEvent event;
    p->edit = el_init("meridian", stdin, stdout, stderr);
    p->history = history_init();
    history(p->history, &event, H_SETSIZE, HISTORY_LINES);
    history(p->history, &event, H_SETUNIQUE, 1);
    if (path->size > 0) history(p->history, &event, H_LOAD, path->data);
    el_set(p->edit, EL_CLIENTDATA, p);
    el_set(p->edit, EL_PROMPT, prompt_text);
    el_set(p->edit, EL_EDITOR, "emacs");
    el_set(p->edit, EL_SIGNAL, 1);
    el_set(p->edit, EL_HIST, history, p->history);
    el_set(p->edit, EL_ADDFN, "complete", "complete a name", complete);
    el_set(p->edit, EL_BIND, "^I", "complete", NULL);
    el_source(p->edit, NULL);
}

int mrd__query_prompt(const mrd__asking *asking)
{
    prompt p = {.asking = asking};
    mrd__buf path = {0};
    HistEvent event;
    int count;
    history_path(&path);
    begin(&p, &path);
    fputs("SQL, ended by a semicolon; Tab completes names, .tables lists tables, .quit leaves.\n",
          stderr);
    for (const char *line; (line = el_gets(p.edit, &count)) != NULL && count > 0;) {
        if (!take_line(&p, line)) break;
    }
    if (path.size > 0) {
        mode_t before = umask(077); /* statements may hold what is nobody else's business */
        history(p.history, &event, H_SAVE, path.data);
        umask(before);
    }
    history_end(p.history);
    el_end(p.edit);
    mrd__buf_reset(&path);
    mrd__buf_reset(&p.sql);
    mrd__buf_reset(&p.words);
    mrd__vec_reset(&p.names);
    return MRD__EXIT_DONE;
}
