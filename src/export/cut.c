#include "export/cut.h"

#include "base/alloc.h"

#include <string.h>

/* ---- Patterns ---- */

/* One of [...]; *pattern moves behind it. An open bracket without its mate is a character. */
static bool in_set(const char **pattern, char c)
{
    const char *at = *pattern + 1;
    bool wanted = *at != '!' && *at != '^';
    bool found = false;
    if (!wanted) at++;
    for (bool first = true; *at != '\0' && (first || *at != ']'); first = false) {
        if (at[1] == '-' && at[2] != '\0' && at[2] != ']') {
            found |= c >= at[0] && c <= at[2];
            at += 3;
        } else {
            found |= c == *at++;
        }
    }
    if (*at != ']') {
        ++*pattern;
        return c == '[';
    }
    *pattern = at + 1;
    return found == wanted;
}

bool mrd__glob(const char *pattern, mrd__str text)
{
    const char *at = text.data;
    const char *end = text.data + text.size;
    const char *star = NULL;
    const char *retry = NULL;
    while (at < end) {
        bool fits = false;
        if (*pattern == '*') {
            star = ++pattern;
            retry = at;
            continue;
        }
        if (*pattern == '[')
            fits = in_set(&pattern, *at);
        else if (*pattern != '\0' && (*pattern == '?' || *pattern == *at)) {
            fits = true;
            pattern++;
        }
        if (fits) {
            at++;
            continue;
        }
        if (star == NULL) return false;
        pattern = star;
        at = ++retry;
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}

/* ---- Selections ---- */

static bool lane_fits(const mrd__store *store, const mrd__track *track, const char *pattern)
{
    mrd__str_id names[3] = {track->name, 0, 0};
    if (track->thread != MRD__NONE) names[1] = store->threads[track->thread].name;
    if (track->process != MRD__NONE) names[2] = store->processes[track->process].name;
    for (int i = 0; i < 3; i++) {
        if (names[i] != 0 && mrd__glob(pattern, mrd__store_str(store, names[i]))) return true;
    }
    return false;
}

void mrd__selection_make(mrd__selection *out, const mrd__store *store, const mrd__cut *cut)
{
    *out = (mrd__selection){.store = store, .cut = *cut};
    out->tracks = mrd__new_array(bool, store->track_count + 1);
    out->names = mrd__new_array(uint8_t, store->string_count + 1);
    for (size_t t = 0; t < store->track_count; t++)
        out->tracks[t] = cut->tracks == NULL || lane_fits(store, &store->tracks[t], cut->tracks);
}

void mrd__selection_reset(mrd__selection *selection)
{
    mrd__free(selection->tracks);
    mrd__free(selection->names);
    *selection = (mrd__selection){0};
}

static bool name_fits(mrd__selection *s, mrd__str_id name)
{
    if (s->cut.names == NULL) return true;
    if (s->names[name] == 0)
        s->names[name] = mrd__glob(s->cut.names, mrd__store_str(s->store, name)) ? 2 : 1;
    return s->names[name] == 2;
}

static bool point_fits(const mrd__selection *s, int64_t time)
{
    return (!s->cut.has_start || time >= s->cut.start_ns) &&
           (!s->cut.has_end || time < s->cut.end_ns);
}

bool mrd__selects_slice(mrd__selection *s, uint64_t slice)
{
    const mrd__store *store = s->store;
    if (!name_fits(s, store->slices.name[slice])) return false;
    if (s->cut.tracks != NULL &&
        !s->tracks[store->row_infos[mrd__store_row_of(store, slice)].track])
        return false;
    int64_t start = mrd__store_slice_start(store, slice);
    if (s->cut.has_end && start >= s->cut.end_ns) return false;
    if (!s->cut.has_start || start >= s->cut.start_ns) return true;
    return mrd__store_slice_end(store, slice) > s->cut.start_ns;
}

bool mrd__selects_instant(mrd__selection *s, uint32_t track, uint64_t instant)
{
    return s->tracks[track] && name_fits(s, s->store->instants.name[instant]) &&
           point_fits(s, mrd__store_instant_time(s->store, instant));
}

bool mrd__selects_sample(mrd__selection *s, uint32_t track, uint64_t sample)
{
    return s->tracks[track] && point_fits(s, mrd__store_counter_time(s->store, sample));
}

bool mrd__selects_flow(mrd__selection *s, const mrd__flow *flow)
{
    return mrd__selects_slice(s, flow->from) && mrd__selects_slice(s, flow->to);
}

const char *mrd__selection_crossed(const mrd__selection *s, uint64_t slice)
{
    bool start = s->cut.has_start && mrd__store_slice_start(s->store, slice) < s->cut.start_ns;
    bool end = s->cut.has_end && mrd__store_slice_end(s->store, slice) > s->cut.end_ns;
    return start && end ? "start|end" : start ? "start" : end ? "end" : NULL;
}
