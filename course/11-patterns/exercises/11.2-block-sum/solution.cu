// Each block of 256 threads sums 256 elements by a tree in shared memory.
//
// The threads that add are always the first ones, so whole warps work or rest. The barrier is outside the branch: all
// threads of the block must reach it, also those that rest. It separates the writes of one step from the reads of the
// next.

#define THREADS 256

__global__ void block_sum(const float *in, float *partial, int n)
{
    __shared__ float values[THREADS];
    int thread = threadIdx.x, i = blockIdx.x * THREADS + thread;

    values[thread] = i < n ? in[i] : 0;
    __syncthreads();

    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (thread < half)
            values[thread] += values[thread + half];
        __syncthreads();
    }

    if (thread == 0)
        partial[blockIdx.x] = values[0];
}
