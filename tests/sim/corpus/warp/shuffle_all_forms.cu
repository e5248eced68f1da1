// All shuffles, with widths and several types.
#include "../corpus.h"

__global__ void shuffle(int *output)
{
    int lane = threadIdx.x;
    unsigned all = 0xffffffffu;
    output[lane] = __shfl_sync(all, lane, 5);
    output[32 + lane] = __shfl_up_sync(all, lane, 3, 8);
    output[64 + lane] = __shfl_down_sync(all, lane, 3, 8);
    output[96 + lane] = __shfl_xor_sync(all, lane, 7, 16);
    output[128 + lane] = (int)__shfl_sync(all, (double)lane / 2, lane + 1) * 2;
    output[160 + lane] = (int)(__shfl_xor_sync(all, (long long)lane << 40, 1) >> 40);
    output[192 + lane] = (int)__shfl_down_sync(all, (float)lane, 16);
    output[224 + lane] = __shfl_sync(all, lane, 33 + lane, 4);
}

int main()
{
    int *output = device_zeros<int>(256), r[256];
    shuffle<<<1, 32>>>(output);
    CHECK(cudaGetLastError());
    fetch(r, output);
    for (int l = 0; l < 32; l++) {
        REQUIRE(r[l] == 5);
        REQUIRE(r[32 + l] == (l % 8 < 3 ? l : l - 3));
        REQUIRE(r[64 + l] == (l % 8 + 3 < 8 ? l + 3 : l));
        REQUIRE(r[96 + l] == (l ^ 7));
        REQUIRE(r[128 + l] == (l + 1) % 32 / 2 * 2);
        REQUIRE(r[160 + l] == (l ^ 1));
        REQUIRE(r[192 + l] == (l < 16 ? l + 16 : l));
        REQUIRE(r[224 + l] == l / 4 * 4 + (33 + l) % 4);
    }
    CHECK(cudaFree(output));
    return 0;
}
