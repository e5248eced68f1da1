// Hillis-Steele scan in one buffer with one barrier a step: the read and the write of a step race.
#include "../corpus.h"

__global__ void scan(int *data)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = data[t];
    __syncthreads();
    for (int offset = 1; offset < 64; offset *= 2) {
        if (t >= offset)
            s[t] += s[t - offset]; // expect: race
        __syncthreads();
    }
    data[t] = s[t];
}

int main()
{
    int *data = device_ramp(64, 1, 0);
    scan<<<1, 64>>>(data);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(data));
    return 0;
}
