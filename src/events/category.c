#include "events/category.h"
#include "base/assert.h"

static const char *const names[MRD__EV_COUNT] = {
    "link_busy", "link_idle", "thread_blocked", "thread_unblocked", "ostd_change", "hop_arrive"};
static const char *const old_names[MRD__EV_COUNT] = {
    "LinkBusy", "LinkIdle", "ThreadBlocked", "ThreadUnblocked", "OstdChange", "HopArrive"};

const char *mrd__category_name(int category)
{
    mrd__assert(category >= 0 && category < MRD__EV_COUNT);
    return names[category];
}

int mrd__category_parse(mrd__str name)
{
    for (int i = 0; i < MRD__EV_COUNT; i++) {
        if (mrd__str_is(name, names[i]) || mrd__str_is(name, old_names[i])) return i;
    }
    return -1;
}

const char *mrd__category_list(void)
{
    return "link_busy, link_idle, thread_blocked, thread_unblocked, ostd_change, hop_arrive";
}
