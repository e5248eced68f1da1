// NVTX ranges with the names of the profile, for nsys and other tools. nvtx3 is headers alone: it looks for a tool at
// the first range and is an empty call where there is none.

#include "profile/profile.h"

#ifdef HEDDLE_HAVE_NVTX

#include <nvtx3/nvToolsExt.h>

void heddle_nvtx_push(const char *name)
{
    nvtxRangePushA(name);
}

void heddle_nvtx_pop(void)
{
    nvtxRangePop();
}

bool heddle_nvtx_is_built(void)
{
    return true;
}

#else

void heddle_nvtx_push(const char *name)
{
    (void)name;
}

void heddle_nvtx_pop(void)
{
}

bool heddle_nvtx_is_built(void)
{
    return false;
}

#endif
