// Doubles every element of an array: one thread per element.
//
// blockIdx.x blocks come before this thread's block, each with blockDim.x threads, and threadIdx.x threads come before
// it within its own block. The sum is a number that no other thread has.

__global__ void double_all(const float *in, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    out[i] = 2 * in[i];
}
