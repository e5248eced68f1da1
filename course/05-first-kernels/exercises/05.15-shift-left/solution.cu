// Moves all samples one place to the left, in place. One block; it has at least n threads.
//
// Each thread first takes its neighbour's sample into a variable of its own. The barrier comes after all reads and
// before the first write. It is outside of both ifs, because every thread of the block has to reach it.

__global__ void shift_left(float *samples, int n)
{
    int i = threadIdx.x;
    float next = 0;

    if (i + 1 < n)
        next = samples[i + 1];
    __syncthreads();
    if (i + 1 < n)
        samples[i] = next;
}
