// Doubles every element of an array: four elements per thread.
//
// The result is already correct. Look at which elements the lanes of one warp read in the same pass of the loop.

#define PER_THREAD 4

__global__ void double_four(const float *in, float *out, int n)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;

    for (int k = 0; k < PER_THREAD; k++) {
        int i = thread * PER_THREAD + k; // TODO: neighbouring lanes, neighbouring elements
        if (i < n)
            out[i] = 2 * in[i];
    }
}
