// out = in minus the mean of the group; one block of 64 threads per group of 64 elements, the last may be smaller.
//
// Each thread brings one element into shared memory, and after the barrier all of them read all of it. Global memory
// delivers n floats instead of about 65 n.

#define GROUP 64

__global__ void subtract_mean(const float *in, float *out, int n)
{
    __shared__ float group[GROUP];
    int first = blockIdx.x * GROUP;
    int count = min(GROUP, n - first);
    float sum = 0;

    if (threadIdx.x < count)
        group[threadIdx.x] = in[first + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < count; k++)
        sum += group[k];
    if (threadIdx.x < count)
        out[first + threadIdx.x] = group[threadIdx.x] - sum / count;
}
