// __match_any_sync with a mask that leaves the calling lanes out.
#include "../corpus.h"

__global__ void group(const int *keys, unsigned *peers)
{
    int t = threadIdx.x;
    peers[t] = __match_any_sync(0xfffffffeu, keys[t]); // expect: warp-mask
}

int main()
{
    int *keys = device_ramp(32, 0, 1);
    unsigned *peers = device_zeros<unsigned>(32);
    group<<<1, 32>>>(keys, peers);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(keys));
    SHOW(cudaFree(peers));
    return 0;
}
