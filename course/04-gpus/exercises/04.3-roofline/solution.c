// The roofline: how fast a kernel can be at best.
//
// Memory delivers `bandwidth` bytes per second and the kernel does `intensity` operations on each, so memory allows
// intensity * bandwidth operations per second. The units agree: FLOP/byte * GB/s = GFLOP/s.

#include <stdbool.h>

struct gpu {
    double peak;      // GFLOP/s: thousand million operations per second
    double bandwidth; // GB/s: thousand million bytes per second
};

// flops: operations that the kernel does; bytes: what it moves between memory and chip. Both are above 0.
double attainable(const struct gpu *gpu, double flops, double bytes)
{
    double intensity = flops / bytes;
    double memory_roof = intensity * gpu->bandwidth;

    return memory_roof < gpu->peak ? memory_roof : gpu->peak;
}

bool memory_bound(const struct gpu *gpu, double flops, double bytes)
{
    return attainable(gpu, flops, bytes) < gpu->peak;
}
