// Who may include whom. Rules (tools/layers.txt) list, for each folder of src/, the folders it may
// include, and for each foreign header the folders that may; what is not listed is forbidden, also
// at second hand: a header that includes another gives its own includers that edge too.
//
//     src/query/a.c  ->  src/model/store.h  ->  src/clock/graph.h
//     query may include model; query may not reach clock, however long the way
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tidy.h"

enum {
    rules_max = 256,
    names_max = 64, // allowed folders of one rule
};

// One line of the rules: `name: allowed...`.
struct rule {
    char *name;
    char *allowed[names_max];
    size_t count;
};

struct rules {
    struct rule folders[rules_max];
    size_t folder_count;
    struct rule foreign[rules_max]; // header pattern -> folders
    size_t foreign_count;
    struct rule system; // header patterns that every folder may include
    struct rule all;    // folders that every folder may include
};

struct include {
    char *name;
    int line;
    bool is_quoted;
    size_t target; // index into the graph's files, or none
};

struct node {
    const struct source *source;
    const struct rule *folder;
    struct include *includes;
    size_t count;
    size_t from; // during a walk: the file that led here
    bool is_seen;
};

struct graph {
    struct node *nodes;
    size_t count;
};

static const size_t none = (size_t)-1;

static void fatal(const char *path, const char *what)
{
    fprintf(stderr, "tidy: %s: %s\n", path, what);
    exit(2);
}

static bool contains(const struct rule *rule, const char *name)
{
    for (size_t i = 0; i < rule->count; i++) {
        size_t length = strlen(rule->allowed[i]);
        bool is_open = length > 0 && rule->allowed[i][length - 1] == '*';
        if (is_open ? strncmp(rule->allowed[i], name, length - 1) == 0
                    : strcmp(rule->allowed[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static void add_names(struct rule *rule, const char *text, const char *path)
{
    while (*text) {
        text += strspn(text, " \t");
        size_t length = strcspn(text, " \t");
        if (!length) break;
        if (rule->count == names_max) fatal(path, "too many names in one rule");
        rule->allowed[rule->count++] = keep_text(text, length);
        text += length;
    }
}

static void read_rule(struct rules *rules, char *line, const char *path)
{
    line[strcspn(line, "#")] = 0;
    line += strspn(line, " \t");
    if (!*line) return;
    char *colon = strchr(line, ':');
    if (!colon) fatal(path, "a rule has the form `name: allowed...`");
    *colon = 0;
    struct rule *rule;
    const char *name = line;
    if (strcmp(name, "system") == 0) {
        rule = &rules->system;
    } else if (strcmp(name, "*") == 0) {
        rule = &rules->all;
    } else if (has_prefix(name, "<")) {
        if (rules->foreign_count == rules_max) fatal(path, "too many rules");
        rule = &rules->foreign[rules->foreign_count++];
        name++;
    } else {
        if (rules->folder_count == rules_max) fatal(path, "too many rules");
        rule = &rules->folders[rules->folder_count++];
    }
    rule->name = keep_text(name, strcspn(name, ">"));
    add_names(rule, colon + 1, path);
}

static void read_rules(struct rules *rules, const char *path)
{
    size_t size;
    char *text = read_file(path[0] == '/' ? "" : ".", path, &size);
    if (!text) fatal(path, "cannot be read");
    while (*text) {
        size_t length = strcspn(text, "\n");
        char *line = keep_text(text, length);
        read_rule(rules, line, path);
        text += length + (text[length] == '\n');
    }
}

// The rule of the deepest listed folder that holds the path; "public" for include/.
static const struct rule *folder_of(const struct rules *rules, const char *path)
{
    const struct rule *best = NULL;
    bool is_public = has_prefix(path, "include/");
    for (size_t i = 0; i < rules->folder_count; i++) {
        const struct rule *rule = &rules->folders[i];
        size_t length = strlen(rule->name);
        bool holds = is_public
                         ? strcmp(rule->name, "public") == 0
                         : strncmp(path + 4, rule->name, length) == 0 && path[4 + length] == '/';
        if (holds && (!best || length > strlen(best->name))) best = rule;
    }
    return best;
}

static size_t find_file(const struct graph *graph, const char *name)
{
    for (size_t i = 0; i < graph->count; i++) {
        const char *path = graph->nodes[i].source->path;
        const char *tail = path + (has_prefix(path, "src/") ? 4 : strlen("include/"));
        if (strcmp(tail, name) == 0) return i;
    }
    return none;
}

// Reads the include at `at` (its '#'); false when the directive is another one.
static bool read_include(const struct source *source, size_t at, struct include *out)
{
    const char *p = source->text + at + 1;
    p += strspn(p, " \t");
    if (!has_prefix(p, "include")) return false;
    p += strlen("include");
    p += strspn(p, " \t");
    if (*p != '"' && *p != '<') return false;
    out->is_quoted = *p == '"';
    out->name = keep_text(p + 1, strcspn(p + 1, "\">\n"));
    out->line = line_of(source, at);
    out->target = none;
    return true;
}

static void read_includes(struct node *node)
{
    const struct source *source = node->source;
    node->includes = keep((size_t)line_of(source, source->size) * sizeof *node->includes);
    for (size_t i = 0; i < source->size; i++) {
        bool at_start = i == 0 || source->text[i - 1] == '\n';
        if (at_start && source->code[i] == '#' &&
            read_include(source, i, &node->includes[node->count])) {
            node->count++;
        }
    }
}

// Quoted names lead to files of ours; anything else is a header of somebody else's.
static void resolve(struct graph *graph, struct node *node)
{
    for (size_t i = 0; i < node->count; i++) {
        struct include *include = &node->includes[i];
        if (!include->is_quoted) continue;
        include->target = find_file(graph, include->name);
        if (include->target == none) {
            report(node->source->path, include->line,
                   "layers: \"%s\" is not a file below src/ or include/ (includes are written "
                   "relative to src/)",
                   include->name);
        }
    }
}

// "a.c > b.h > c.h": the way the walk took to node `at`.
static void way(const struct graph *graph, size_t at, char *out, size_t size)
{
    const struct node *node = &graph->nodes[at];
    if (node->from != none) way(graph, node->from, out, size);
    size_t used = strlen(out);
    snprintf(out + used, size - used, "%s%s", used ? " > " : "", node->source->path);
}

static bool may_reach(const struct rules *rules, const struct rule *folder, const char *target)
{
    return strcmp(folder->name, target) == 0 || contains(folder, target) ||
           contains(&rules->all, target);
}

static void check_reach(const struct rules *rules, const struct graph *graph, size_t start,
                        size_t at)
{
    const struct rule *folder = graph->nodes[start].folder, *target = graph->nodes[at].folder;
    if (at == start || may_reach(rules, folder, target->name)) return;
    char chain[2048] = "";
    way(graph, at, chain, sizeof chain);
    report(graph->nodes[start].source->path, 0, "layers: %s may not include %s%s (%s)",
           folder->name, target->name,
           graph->nodes[at].from == start ? "" : ", also at second hand", chain);
}

static void check_foreign(const struct rules *rules, const struct graph *graph, size_t start,
                          size_t at, const struct include *include)
{
    const struct node *node = &graph->nodes[start];
    if (contains(&rules->system, include->name)) return;
    bool is_known = false;
    for (size_t i = 0; i < rules->foreign_count; i++) {
        struct rule pattern = {.allowed = {rules->foreign[i].name}, .count = 1};
        if (!contains(&pattern, include->name)) continue;
        is_known = true;
        if (contains(&rules->foreign[i], node->folder->name)) return;
    }
    char chain[2048] = "";
    way(graph, at, chain, sizeof chain);
    report(node->source->path, at == start ? include->line : 0,
           is_known ? "layers: %s may not include <%s> (%s)"
                    : "layers: %s: the foreign header <%s> is not listed (%s)",
           node->folder->name, include->name, chain);
}

// Everything the file reaches, nearest first, so that the way told is a shortest one.
static void walk(const struct rules *rules, struct graph *graph, size_t start)
{
    size_t *queue = keep(graph->count * sizeof *queue);
    size_t head = 0, tail = 0;
    for (size_t i = 0; i < graph->count; i++)
        graph->nodes[i].is_seen = false;
    graph->nodes[start].is_seen = true;
    graph->nodes[start].from = none;
    queue[tail++] = start;
    while (head < tail) {
        size_t at = queue[head++];
        check_reach(rules, graph, start, at);
        const struct node *node = &graph->nodes[at];
        for (size_t i = 0; i < node->count; i++) {
            const struct include *include = &node->includes[i];
            if (!include->is_quoted) check_foreign(rules, graph, start, at, include);
            size_t target = include->target;
            if (target == none || graph->nodes[target].is_seen) continue;
            graph->nodes[target].is_seen = true;
            graph->nodes[target].from = at;
            queue[tail++] = target;
        }
    }
    free(queue);
}

void check_layers(const struct sources *sources, const char *rules_path)
{
    struct rules *rules = keep(sizeof *rules);
    read_rules(rules, rules_path);
    struct graph graph = {.nodes = keep(sources->count * sizeof *graph.nodes)};
    for (size_t i = 0; i < sources->count; i++) {
        const struct source *source = &sources->items[i];
        bool is_ours = has_prefix(source->path, "src/") || has_prefix(source->path, "include/");
        if (!source->is_c || !is_ours) continue;
        const struct rule *folder = folder_of(rules, source->path);
        if (!folder) {
            report(source->path, 0, "layers: its folder is not listed in %s", rules_path);
            continue;
        }
        graph.nodes[graph.count++] = (struct node){.source = source, .folder = folder};
    }
    for (size_t i = 0; i < graph.count; i++) {
        read_includes(&graph.nodes[i]);
    }
    for (size_t i = 0; i < graph.count; i++) {
        resolve(&graph, &graph.nodes[i]);
    }
    for (size_t i = 0; i < graph.count; i++) {
        walk(rules, &graph, i);
    }
}
