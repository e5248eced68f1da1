// Device code that another file calls.
#include "steps.h"

__device__ float times(float x)
{
    return 3 * x;
}
