// Each block of 256 threads sums 256 elements by a tree in shared memory.

#define THREADS 256

__global__ void block_sum(const float *in, float *partial, int n)
{
    __shared__ float values[THREADS];
    int thread = threadIdx.x, i = blockIdx.x * THREADS + thread;

    values[thread] = i < n ? in[i] : 0;
    __syncthreads();

    // TODO: in steps, add the upper half of what is left to the lower half: first 128 threads add, then 64, …, then 1

    if (thread == 0)
        partial[blockIdx.x] = values[0];
}
