// c = a + b as a block program: each block of 128 threads handles 1024 elements.
//
// In Triton:
//     offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
//     mask = offsets < n
//     tl.store(c + offsets, tl.load(a + offsets, mask) + tl.load(b + offsets, mask), mask)
//
// Round i handles 128 consecutive elements, one per thread. So the 32 lanes of a warp access 32 consecutive floats: 128
// bytes, 4 sectors. With eight elements in a row per thread, the lanes were 32 bytes apart: a sector each.

#define BLOCK   1024
#define THREADS 128

__global__ void add_block(const float *a, const float *b, float *c, int n)
{
    for (int i = 0; i < BLOCK / THREADS; i++) {
        int offset = blockIdx.x * BLOCK + i * THREADS + threadIdx.x;
        if (offset < n)
            c[offset] = a[offset] + b[offset];
    }
}
