// The roofline: how fast a kernel can be at best.

#include <stdbool.h>

struct gpu {
    double peak;      // GFLOP/s: thousand million operations per second
    double bandwidth; // GB/s: thousand million bytes per second
};

// flops: operations that the kernel does; bytes: what it moves between memory and chip. Both are above 0.
double attainable(const struct gpu *gpu, double flops, double bytes)
{
    return gpu->peak; // TODO: memory may be slower than that
}

bool memory_bound(const struct gpu *gpu, double flops, double bytes)
{
    return false; // TODO
}
