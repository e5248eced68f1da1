// Inclusive scan of up to 64 x 64 elements: blocks, then the sums of the blocks, then both together.

#define THREADS 64

// Scans each block of 64 elements, and writes the sum of each block to sums.
__global__ void scan_blocks(const int *in, int *out, int *sums, int n)
{
    __shared__ int values[THREADS];
    int thread = threadIdx.x, i = blockIdx.x * THREADS + thread;

    values[thread] = i < n ? in[i] : 0;
    for (int distance = 1; distance < THREADS; distance *= 2) {
        __syncthreads();
        int left = thread >= distance ? values[thread - distance] : 0;
        __syncthreads();
        values[thread] += left;
    }
    if (i < n)
        out[i] = values[thread];
    if (thread == THREADS - 1)
        sums[blockIdx.x] = values[thread];
}

// Adds to each element what all blocks before its own sum to. scanned: the scanned sums of the blocks.
__global__ void add_offsets(int *out, const int *scanned, int n)
{
    // TODO
}

// sums, scanned: room for one int per block. total: room for one int.
void scan(const int *in, int *out, int *sums, int *scanned, int *total, int n)
{
    int blocks = (n + THREADS - 1) / THREADS;

    scan_blocks<<<blocks, THREADS>>>(in, out, sums, n);
    scan_blocks<<<1, THREADS>>>(sums, scanned, total, blocks);
    // TODO: launch add_offsets
}
