// The largest element of an array: one thread per element.

// *address becomes the larger of *address and value, in one uninterrupted operation.
__device__ void atomic_max(float *address, float value)
{
    // TODO: between the test and the store, another thread may store a larger value
    if (*address < value)
        *address = value;
}

__global__ void find_largest(const float *in, float *largest, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        atomic_max(largest, in[i]);
}
