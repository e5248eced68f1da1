#include "learn_c.h"

#include "04.2-occupancy.c"

static void judge(const char *what, struct sm sm, struct kernel kernel, int expected)
{
    learn_case("%s: %d threads per block, %d registers per thread, %d bytes of shared memory per block", what,
               kernel.threads, kernel.registers, kernel.shared_bytes);
    learn_expect_int("blocks_per_sm", blocks_per_sm(&sm, &kernel), expected);
}

int main(void)
{
    // NVIDIA's CUDA C++ Programming Guide, compute capabilities 9.0 and 7.5
    const struct sm h200 = {2048, 32, 65536, 233472}, t4 = {1024, 16, 65536, 65536};
    judge("H200", h200, (struct kernel){256, 32, 0}, 8);       // threads
    judge("H200", h200, (struct kernel){64, 16, 0}, 32);       // threads and blocks agree
    judge("H200", h200, (struct kernel){32, 16, 0}, 32);       // blocks
    judge("H200", h200, (struct kernel){256, 64, 0}, 4);       // registers
    judge("H200", h200, (struct kernel){256, 65, 0}, 3);       // one register more
    judge("H200", h200, (struct kernel){128, 32, 49152}, 4);   // shared memory
    judge("H200", h200, (struct kernel){1024, 32, 200000}, 1); // shared memory
    judge("H200", h200, (struct kernel){33, 16, 0}, 32);       // warps: 64 threads
    judge("H200", h200, (struct kernel){100, 16, 0}, 16);      // warps: 128 threads
    judge("H200", h200, (struct kernel){100, 128, 0}, 4);      // registers of whole warps
    judge("H200", h200, (struct kernel){1024, 128, 0}, 0);     // does not fit at all
    judge("T4", t4, (struct kernel){256, 32, 0}, 4);
    judge("T4", t4, (struct kernel){32, 16, 3000}, 16);
    judge("T4", t4, (struct kernel){1, 1, 65536}, 1);
    return learn_passed();
}
