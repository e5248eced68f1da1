// __reduce_add_sync with a mask that names lanes that have ended.
#include "../corpus.h"

__global__ void add(unsigned *data)
{
    unsigned t = threadIdx.x;
    if (t % 2 == 0)
        data[t] = __reduce_add_sync(0xffffffffu, t); // expect: warp-mask(warning)
}

int main()
{
    unsigned *data = device_zeros<unsigned>(32);
    add<<<1, 32>>>(data);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(data));
    return 0;
}
