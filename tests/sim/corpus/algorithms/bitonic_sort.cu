// Bitonic sort of one block in shared memory.
#include "../corpus.h"

__global__ void sort(int *data)
{
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = data[t];
    for (int size = 2; size <= 128; size *= 2)
        for (int stride = size / 2; stride > 0; stride /= 2) {
            __syncthreads();
            int other = t ^ stride;
            if (other > t && (s[t] > s[other]) == ((t & size) == 0)) {
                int swap = s[t];
                s[t] = s[other];
                s[other] = swap;
            }
        }
    __syncthreads();
    data[t] = s[t];
}

int main()
{
    int host[128];
    for (int i = 0; i < 128; i++)
        host[i] = i * 37 % 128;
    int *data = device_copy(host);
    sort<<<1, 128>>>(data);
    CHECK(cudaGetLastError());
    fetch(host, data);
    for (int i = 0; i < 128; i++)
        REQUIRE(host[i] == i);
    CHECK(cudaFree(data));
    return 0;
}
