// A tile is read in reverse with no barrier after it was written.
// note: the first write
#include "../corpus.h"

__global__ void reverse(float *data)
{
    __shared__ float tile[128];
    int t = threadIdx.x;
    tile[t] = data[t];       // expect: race a
    data[t] = tile[127 - t]; // expect: race a
}

int main()
{
    float *data = device_ramp(128, 0.0f, 1.0f);
    reverse<<<1, 128>>>(data);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(data));
    return 0;
}
