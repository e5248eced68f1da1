// Each warp sums 32 elements with shuffles. Blocks have a multiple of 32 threads.
//
// After the step with distance 16, lane l holds the sum of lanes l and l + 16; after distance 8, of four lanes; after
// distance 1, lane 0 holds the sum of all. A thread past the end must not return early: the mask names all 32 lanes,
// so it takes part with a 0.

__global__ void warp_sum(const float *in, float *partial, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % 32;
    float value = i < n ? in[i] : 0;

    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_down_sync(0xffffffff, value, distance);

    if (lane == 0 && i < n)
        partial[i / 32] = value;
}
