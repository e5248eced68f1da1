// Odd-even sort whose phases are not separated.
#include "../corpus.h"

__global__ void sort(int *data, int n)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = data[t];
    __syncthreads();
    for (int phase = 0; phase < n; phase++) {
        if (t % 2 == phase % 2 && t + 1 < n) {
            int low = min(s[t], s[t + 1]), high = max(s[t], s[t + 1]); // expect: race a+
            s[t] = low;                                                // expect: race a+
            s[t + 1] = high;                                           // expect: race a+
        }
    }
    __syncthreads();
    data[t] = s[t];
}

int main()
{
    int *data = device_ramp(64, 63, -1);
    sort<<<1, 64>>>(data, 64);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(data));
    return 0;
}
