#include "session/sources/procfs.h"

#include <string.h>

/* ---- Members ---- */

static void key_of(mrd__members *members, const char *key)
{
    if (members->count++ > 0) mrd__buf_char(members->out, ',');
    mrd__buf_json_string(members->out, mrd__str_of(key));
    mrd__buf_char(members->out, ':');
}

void mrd__member_uint(mrd__members *members, const char *key, uint64_t value)
{
    key_of(members, key);
    mrd__buf_uint(members->out, value);
}

void mrd__member_int(mrd__members *members, const char *key, int64_t value)
{
    key_of(members, key);
    mrd__buf_int(members->out, value);
}

void mrd__member_text(mrd__members *members, const char *key, mrd__str value)
{
    key_of(members, key);
    mrd__buf_json_string(members->out, value);
}

void mrd__member_null(mrd__members *members, const char *key)
{
    key_of(members, key);
    mrd__buf_text(members->out, "null");
}

/* ---- Words and lines ---- */

bool mrd__procfs_line(mrd__str *text, mrd__str *line)
{
    if (text->size == 0) return false;
    const char *end = memchr(text->data, '\n', text->size);
    size_t size = end != NULL ? (size_t)(end - text->data) : text->size;
    *line = (mrd__str){text->data, size};
    size_t taken = size + (end != NULL);
    *text = (mrd__str){text->data + taken, text->size - taken};
    return true;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

size_t mrd__procfs_words(mrd__str line, mrd__str *words, size_t limit)
{
    size_t count = 0, at = 0;
    while (count < limit) {
        while (at < line.size && is_blank(line.data[at]))
            at++;
        size_t from = at;
        while (at < line.size && !is_blank(line.data[at]))
            at++;
        if (at == from) break;
        words[count++] = (mrd__str){line.data + from, at - from};
    }
    return count;
}

/* `name: 12 kB` or `name 12`. */
static bool pair_of(mrd__str line, mrd__str *name, uint64_t *value)
{
    mrd__str words[2];
    if (mrd__procfs_words(line, words, 2) < 2) return false;
    *name = words[0];
    if (name->size > 0 && name->data[name->size - 1] == ':') name->size--;
    return mrd__parse_uint64(words[1], value);
}

bool mrd__procfs_value(mrd__str text, const char *name, uint64_t *value)
{
    mrd__str line, found;
    while (mrd__procfs_line(&text, &line)) {
        uint64_t number;
        if (!pair_of(line, &found, &number) || !mrd__str_is(found, name)) continue;
        *value = number;
        return true;
    }
    return false;
}

uint32_t mrd__procfs_pairs(mrd__str text, const mrd__pair *pairs, mrd__members *members)
{
    uint32_t count = 0;
    mrd__str line, name;
    while (mrd__procfs_line(&text, &line)) {
        uint64_t value;
        if (!pair_of(line, &name, &value)) continue;
        for (const mrd__pair *pair = pairs; pair->name != NULL; pair++) {
            if (!mrd__str_is(name, pair->name) || value > UINT64_MAX / pair->factor) continue;
            mrd__member_uint(members, pair->key, value * pair->factor);
            count++;
            break;
        }
    }
    return count;
}

/* ---- Files with a form of their own ---- */

/* Words behind the name of /proc/PID/stat, counted from its field 3. */
enum {
    STAT_STATE = 0,
    STAT_PARENT = 1,
    STAT_MINFLT = 7,
    STAT_MAJFLT = 9,
    STAT_UTIME = 11,
    STAT_STIME = 12,
    STAT_CUTIME = 13,
    STAT_CSTIME = 14,
    STAT_THREADS = 17,
    STAT_START = 19,
    STAT_RSS = 21,
    STAT_WORDS = 22,
};

bool mrd__procfs_stat(mrd__str text, mrd__proc_stat *stat)
{
    size_t at = text.size;
    while (at > 0 && text.data[at - 1] != ')')
        at--;
    mrd__str words[STAT_WORDS];
    mrd__str rest = {text.data + at, text.size - at};
    if (at == 0 || mrd__procfs_words(rest, words, STAT_WORDS) < STAT_WORDS) return false;
    /* A text cut inside the last field would give a wrong number: it must end somewhere. */
    const char *end = words[STAT_RSS].data + words[STAT_RSS].size;
    if (end == text.data + text.size) return false;
    *stat = (mrd__proc_stat){.state = words[STAT_STATE].data[0]};
    return mrd__parse_int64(words[STAT_PARENT], &stat->parent) &&
           mrd__parse_uint64(words[STAT_MINFLT], &stat->minor_faults) &&
           mrd__parse_uint64(words[STAT_MAJFLT], &stat->major_faults) &&
           mrd__parse_uint64(words[STAT_UTIME], &stat->user_ticks) &&
           mrd__parse_uint64(words[STAT_STIME], &stat->system_ticks) &&
           mrd__parse_uint64(words[STAT_CUTIME], &stat->child_user_ticks) &&
           mrd__parse_uint64(words[STAT_CSTIME], &stat->child_system_ticks) &&
           mrd__parse_uint64(words[STAT_THREADS], &stat->threads) &&
           mrd__parse_uint64(words[STAT_START], &stat->start_ticks) &&
           mrd__parse_uint64(words[STAT_RSS], &stat->resident_pages);
}

bool mrd__procfs_pressure(mrd__str text, const char *name, uint64_t *total_us)
{
    static const char total[] = "total=";
    mrd__str line, words[8];
    while (mrd__procfs_line(&text, &line)) {
        size_t count = mrd__procfs_words(line, words, 8);
        if (count < 2 || !mrd__str_is(words[0], name)) continue;
        mrd__str last = words[count - 1];
        size_t skip = sizeof total - 1;
        if (last.size <= skip || memcmp(last.data, total, skip) != 0) return false;
        return mrd__parse_uint64((mrd__str){last.data + skip, last.size - skip}, total_us);
    }
    return false;
}
