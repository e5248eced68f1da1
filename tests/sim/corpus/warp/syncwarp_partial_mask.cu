// Each third of a warp passes data through shared memory with __syncwarp of its own irregular mask.
#include "../corpus.h"

__global__ void rotate(int *output)
{
    __shared__ int box[32];
    int lane = threadIdx.x, group = lane % 3;
    unsigned mask = 0;
    for (int l = group; l < 32; l += 3)
        mask |= 1u << l;
    box[lane] = lane * 10;
    __syncwarp(mask);
    int next = lane + 3 < 32 ? lane + 3 : group;
    output[lane] = box[next];
}

int main()
{
    int *output = device_zeros<int>(32), result[32];
    rotate<<<1, 32>>>(output);
    CHECK(cudaGetLastError());
    fetch(result, output);
    for (int l = 0; l < 32; l++)
        REQUIRE(result[l] == 10 * (l + 3 < 32 ? l + 3 : l % 3));
    CHECK(cudaFree(output));
    return 0;
}
