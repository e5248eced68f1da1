// out[i] = in[i - 3] + … + in[i + 3]; elements outside of the array count as 0.

#define BLOCK  128
#define RADIUS 3

__global__ void sum_of_seven(const float *in, float *out, int n)
{
    __shared__ float tile[RADIUS + BLOCK + RADIUS]; // tile[0] is the element RADIUS before the block's first
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float sum = 0;

    tile[RADIUS + threadIdx.x] = i < n ? in[i] : 0;
    // TODO: the halo, on both sides

    for (int k = 0; k <= 2 * RADIUS; k++)
        sum += tile[threadIdx.x + k];
    if (i < n)
        out[i] = sum;
}
