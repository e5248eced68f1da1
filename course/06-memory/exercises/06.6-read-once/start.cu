// out = in minus the mean of the group; one block of 64 threads per group of 64 elements, the last may be smaller.

#define GROUP 64

__global__ void subtract_mean(const float *in, float *out, int n)
{
    int first = blockIdx.x * GROUP;
    int count = min(GROUP, n - first);
    float sum = 0;

    // TODO: read each element from global memory once
    for (int k = 0; k < count; k++)
        sum += in[first + k];
    if (threadIdx.x < count)
        out[first + threadIdx.x] = in[first + threadIdx.x] - sum / count;
}
