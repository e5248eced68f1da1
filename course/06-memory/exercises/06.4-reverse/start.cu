// Reverses each block's piece of an array, in place, through shared memory.

#define BLOCK 128

__global__ void reverse_pieces(float *data, int n)
{
    __shared__ float piece[BLOCK];
    int first = blockIdx.x * BLOCK;
    int count = min(BLOCK, n - first); // of this block's elements
    int thread = threadIdx.x;

    if (thread < count) {
        piece[thread] = data[first + thread];
        data[first + thread] = piece[count - 1 - thread];
    }
}
