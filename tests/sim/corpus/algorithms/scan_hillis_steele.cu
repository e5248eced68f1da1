// Inclusive scan (Hillis-Steele) with two buffers.
#include "../corpus.h"

__global__ void scan(int *data)
{
    __shared__ int s[2][64];
    int t = threadIdx.x, from = 0;
    s[0][t] = data[t];
    __syncthreads();
    for (int offset = 1; offset < 64; offset *= 2) {
        s[1 - from][t] = s[from][t] + (t >= offset ? s[from][t - offset] : 0);
        from = 1 - from;
        __syncthreads();
    }
    data[t] = s[from][t];
}

int main()
{
    int *data = device_ramp(64, 1, 1), result[64];
    scan<<<1, 64>>>(data);
    CHECK(cudaGetLastError());
    fetch(result, data);
    for (int i = 0; i < 64; i++)
        REQUIRE(result[i] == (i + 1) * (i + 2) / 2);
    CHECK(cudaFree(data));
    return 0;
}
