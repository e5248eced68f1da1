// Half of a warp is in a ballot, the other half in a shuffle, both with the full mask.
#include "../corpus.h"

__global__ void mixed(unsigned *data)
{
    unsigned t = threadIdx.x;
    if (t < 16)
        data[t] = __ballot_sync(0xffffffffu, t % 2); // expect: warp-mismatch a
    else
        data[t] = __shfl_xor_sync(0xffffffffu, t, 1); // expect: warp-mismatch a
}

int main()
{
    unsigned *data = device_zeros<unsigned>(32);
    mixed<<<1, 32>>>(data);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(data));
    return 0;
}
