// compile: a `__shared__` variable cannot have an initialiser

#define BLOCK 128

__global__ void block_sums(const float *in, float *sums, int n)
{
    __shared__ float tile[BLOCK] = {0};
    int i = blockIdx.x * BLOCK + threadIdx.x;

    if (i < n)
        tile[threadIdx.x] = in[i];
    __syncthreads();

    if (threadIdx.x == 0) {
        float sum = 0;
        for (int k = 0; k < BLOCK; k++)
            sum += tile[k];
        sums[blockIdx.x] = sum;
    }
}
