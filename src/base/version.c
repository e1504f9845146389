#include "meridian.h"

const char *mrd_version(void)
{
    return "0.1.0";
}
