// Doubles every element of an array: four elements per thread.
//
// In one pass of the loop the block covers blockDim.x consecutive elements, one per thread: lane l of a warp reads the
// element right after that of lane l - 1. The next pass covers the next blockDim.x elements.

#define PER_THREAD 4

__global__ void double_four(const float *in, float *out, int n)
{
    int first = blockIdx.x * blockDim.x * PER_THREAD; // of this block's elements

    for (int k = 0; k < PER_THREAD; k++) {
        int i = first + k * blockDim.x + threadIdx.x;
        if (i < n)
            out[i] = 2 * in[i];
    }
}
