// Radix sort, one bit a pass, with a ballot for the places within a warp.
#include "../corpus.h"

__global__ void sort(unsigned *data, int bits)
{
    __shared__ unsigned values[128];
    __shared__ int zeros[4];
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    unsigned value = data[t];
    for (int bit = 0; bit < bits; bit++) {
        unsigned one = value >> bit & 1, ones = __ballot_sync(0xffffffffu, one);
        int ones_before = __popc(ones & ((1u << lane) - 1));
        if (lane == 0)
            zeros[warp] = 32 - __popc(ones);
        __syncthreads();
        int zeros_before = 0, total = 0;
        for (int w = 0; w < 4; w++) {
            zeros_before += w < warp ? zeros[w] : 0;
            total += zeros[w];
        }
        int place = one ? total + 32 * warp - zeros_before + ones_before : zeros_before + lane - ones_before;
        values[place] = value;
        __syncthreads();
        value = values[t];
    }
    data[t] = value;
}

int main()
{
    unsigned host[128];
    for (int i = 0; i < 128; i++)
        host[i] = (i * 73 + 11) % 128;
    unsigned *data = device_copy(host);
    sort<<<1, 128>>>(data, 7);
    CHECK(cudaGetLastError());
    fetch(host, data);
    for (unsigned i = 0; i < 128; i++)
        REQUIRE(host[i] == i);
    CHECK(cudaFree(data));
    return 0;
}
