// Each warp sums 32 elements with shuffles. Blocks have a multiple of 32 threads.

__global__ void warp_sum(const float *in, float *partial, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % 32;

    if (i >= n)
        return;
    float value = in[i];

    // TODO: add the values of all lanes, so that lane 0 has the sum

    if (lane == 0)
        partial[i / 32] = value;
}
