// out[i] = in[i - 3] + … + in[i + 3]; elements outside of the array count as 0.
//
// The first RADIUS threads load one more element on either side. Each of the two may lie outside of the array: before
// its begin in the first block, after its end in the last. Then the barrier, for a thread reads what others loaded.

#define BLOCK  128
#define RADIUS 3

__global__ void sum_of_seven(const float *in, float *out, int n)
{
    __shared__ float tile[RADIUS + BLOCK + RADIUS]; // tile[0] is the element RADIUS before the block's first
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float sum = 0;

    tile[RADIUS + threadIdx.x] = i < n ? in[i] : 0;
    if (threadIdx.x < RADIUS) {
        int before = i - RADIUS, after = i + BLOCK;
        tile[threadIdx.x] = before >= 0 ? in[before] : 0;
        tile[RADIUS + BLOCK + threadIdx.x] = after < n ? in[after] : 0;
    }
    __syncthreads();

    for (int k = 0; k <= 2 * RADIUS; k++)
        sum += tile[threadIdx.x + k];
    if (i < n)
        out[i] = sum;
}
