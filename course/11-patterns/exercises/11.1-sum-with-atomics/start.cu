// Sums an array: one thread per element, all of them add to *total.

__global__ void sum_all(const float *in, float *total, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        *total += in[i]; // TODO: read, add and write must not be interrupted by another thread
}
