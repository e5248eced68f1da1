// nvcc-refuses: needs -rdc. A kernel that launches itself without end: 24 levels run, and the launch of the next is
// refused.
#include "../corpus.h"

__global__ void deeper(int *levels, int *errors)
{
    *levels += 1;
    deeper<<<1, 1>>>(levels, errors); // expect: bad-launch
    if (cudaGetLastError() == cudaErrorLaunchMaxDepthExceeded)
        *errors += 1;
}

int main()
{
    int *levels = device_zeros<int>(1), *errors = device_zeros<int>(1), got[2];
    deeper<<<1, 1>>>(levels, errors);
    CHECK(cudaMemcpy(&got[0], levels, sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&got[1], errors, sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(levels));
    CHECK(cudaFree(errors));
    return got[0] != 24 || got[1] != 1;
}
