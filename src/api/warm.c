#include "base/alloc.h"
#include "duck/duck.h"
#include "meridian.h"
#include "query/query.h"

void mrd_warm_memory(void)
{
    mrd__pages_warm();
}

void mrd_warm_up(void)
{
    mrd__duck_warm();
    mrd__query_warm();
    mrd__pages_warm();
}
