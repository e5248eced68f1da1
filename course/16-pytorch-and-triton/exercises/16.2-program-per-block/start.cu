// c = a + b as a block program: each block of 128 threads handles 1024 elements.
//
// In Triton:
//     offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
//     mask = offsets < n
//     tl.store(c + offsets, tl.load(a + offsets, mask) + tl.load(b + offsets, mask), mask)

#define BLOCK   1024
#define THREADS 128

__global__ void add_block(const float *a, const float *b, float *c, int n)
{
    // TODO: share the block's elements among the threads so that neighbouring lanes access neighbouring elements
    for (int i = 0; i < BLOCK / THREADS; i++) {
        int offset = blockIdx.x * BLOCK + threadIdx.x * (BLOCK / THREADS) + i;
        if (offset < n)
            c[offset] = a[offset] + b[offset];
    }
}
