// The library's version, as the build knows it.

#include "heddle/heddle.h"

const char *heddle_version(void)
{
    return HEDDLE_VERSION;
}
