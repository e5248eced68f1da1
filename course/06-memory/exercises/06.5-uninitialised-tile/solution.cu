// sums[b] = the sum of the 128 elements of block b.
//
// A thread without an element writes 0, which changes no sum. Now the whole tile is written, and the code that reads it
// need not know where the array ends.

#define BLOCK 128

__global__ void block_sums(const float *in, float *sums, int n)
{
    __shared__ float tile[BLOCK];
    int i = blockIdx.x * BLOCK + threadIdx.x;

    tile[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();

    if (threadIdx.x == 0) {
        float sum = 0;
        for (int k = 0; k < BLOCK; k++)
            sum += tile[k];
        sums[blockIdx.x] = sum;
    }
}
