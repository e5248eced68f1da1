// Reverses each block's piece of an array, in place, through shared memory.
//
// The barrier is passed only when every thread of the block has reached it, so all elements are in shared memory by
// then. It stands outside the `if`: in the last block some threads have no element, and they must arrive as well.

#define BLOCK 128

__global__ void reverse_pieces(float *data, int n)
{
    __shared__ float piece[BLOCK];
    int first = blockIdx.x * BLOCK;
    int count = min(BLOCK, n - first); // of this block's elements
    int thread = threadIdx.x;

    if (thread < count)
        piece[thread] = data[first + thread];
    __syncthreads();
    if (thread < count)
        data[first + thread] = piece[count - 1 - thread];
}
