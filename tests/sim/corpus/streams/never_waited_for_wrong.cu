// A wrong kernel that nothing waits for is found out at exit.
#include "../corpus.h"

__device__ int cell;

__global__ void late()
{
    cell = threadIdx.x; // expect: race
}

int main()
{
    late<<<1, 64>>>();
    return 0;
}
