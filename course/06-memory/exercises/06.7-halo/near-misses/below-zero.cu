// out-of-bounds: test the index before the access: `before >= 0`

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
        tile[threadIdx.x] = i < n ? in[before] : 0;
        tile[RADIUS + BLOCK + threadIdx.x] = after < n ? in[after] : 0;
    }
    __syncthreads();

    for (int k = 0; k <= 2 * RADIUS; k++)
        sum += tile[threadIdx.x + k];
    if (i < n)
        out[i] = sum;
}
