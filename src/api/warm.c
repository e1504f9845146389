#include "duck/duck.h"
#include "meridian.h"

void mrd_warm_up(void)
{
    mrd__duck_warm();
}
