// What was read from nowhere becomes an index, a condition around a barrier and a value that others write: none of this
// is a mistake of its own.
#include "../corpus.h"

__global__ void scatter(const int *index, int *out)
{
    __shared__ int tile[32];
    int i = threadIdx.x;
    int k = index[i + 64]; // expect: out-of-bounds
    tile[k] = i;           // all of them at 0
    if (k == i)
        __syncthreads();
    out[i] = tile[i];
}

int main()
{
    int *index, *out;
    CHECK(cudaMalloc(&index, 32 * sizeof(int)));
    CHECK(cudaMalloc(&out, 32 * sizeof(int)));
    CHECK(cudaMemset(index, 0, 32 * sizeof(int)));
    scatter<<<1, 32>>>(index, out);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(index));
    SHOW(cudaFree(out));
    return 0;
}
