// Neighbouring bytes of one word written by neighbouring threads do not race.
#include "../corpus.h"

__global__ void invert(unsigned char *data)
{
    __shared__ unsigned char tile[64];
    int t = threadIdx.x;
    tile[t] = (unsigned char)(255 - data[t]);
    __syncthreads();
    data[t] = tile[63 - t];
}

int main()
{
    unsigned char *data = device_ramp<unsigned char>(64, 0, 1), result[64];
    invert<<<1, 64>>>(data);
    CHECK(cudaGetLastError());
    fetch(result, data);
    for (int i = 0; i < 64; i++)
        REQUIRE(result[i] == 255 - (63 - i));
    CHECK(cudaFree(data));
    return 0;
}
