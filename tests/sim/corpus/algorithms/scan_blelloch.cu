// Work-efficient exclusive scan (Blelloch) of one block.
#include "../corpus.h"

__global__ void scan(int *data, int n)
{
    extern __shared__ int s[];
    int t = threadIdx.x, offset = 1;
    s[2 * t] = data[2 * t];
    s[2 * t + 1] = data[2 * t + 1];
    for (int d = n / 2; d > 0; d /= 2) {
        __syncthreads();
        if (t < d)
            s[offset * (2 * t + 2) - 1] += s[offset * (2 * t + 1) - 1];
        offset *= 2;
    }
    if (t == 0)
        s[n - 1] = 0;
    for (int d = 1; d < n; d *= 2) {
        offset /= 2;
        __syncthreads();
        if (t < d) {
            int low = offset * (2 * t + 1) - 1, high = offset * (2 * t + 2) - 1, swap = s[low];
            s[low] = s[high];
            s[high] += swap;
        }
    }
    __syncthreads();
    data[2 * t] = s[2 * t];
    data[2 * t + 1] = s[2 * t + 1];
}

int main()
{
    int *data = device_ramp(128, 1, 1), result[128], sum = 0;
    scan<<<1, 64, 128 * sizeof(int)>>>(data, 128);
    CHECK(cudaGetLastError());
    fetch(result, data);
    for (int i = 0; i < 128; i++) {
        REQUIRE(result[i] == sum);
        sum += i + 1;
    }
    CHECK(cudaFree(data));
    return 0;
}
