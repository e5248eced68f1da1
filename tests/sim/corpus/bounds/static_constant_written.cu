// A kernel that writes to its own static variable in constant memory.
#include "../corpus.h"

__global__ void change(int *out)
{
    static __constant__ int limit[2] = {4, 5};
    int *open = (int *)limit;
    open[out[0] & 1] = 6; // expect: out-of-bounds
    out[1] = limit[out[2] & 1];
}

int main()
{
    int *out = device_zeros<int>(32);
    change<<<1, 1>>>(out);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
