// nvcc-refuses: needs -rdc. A kernel that launches itself without end: 24 levels run, and the launch of the next is
// refused.
#include "../corpus.h"
#include <cassert>

__global__ void deeper(int level)
{
    deeper<<<1, 1>>>(level + 1); // expect: bad-launch
    assert(cudaGetLastError() == (level < 24 ? cudaSuccess : cudaErrorLaunchMaxDepthExceeded));
}

int main()
{
    deeper<<<1, 1>>>(1);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
