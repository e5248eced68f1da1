// matmul_int4, rung 2: one warp per row of weights, 32 weights per load.
//
// In rung 1 neighbouring threads read different rows. Here the lanes of a warp read 512 neighbouring bytes of one row,
// 16 each, and shuffles add their sums. A lane's 32 weights have one scale, by which their sum is multiplied. The input
// waits in shared memory, and up to four rows of it are multiplied by a weight that is unpacked once: the kernel is in
// warp_rows.h.
//
// Limited by: instructions. Each weight is shifted, masked and converted to float32 on its own, and conversions run at
// a fraction of the rate of multiplications. Shared memory is next: four bytes of it are read for the half byte of a
// weight.

#include "ops/matmul_int4/warp_rows.h"

struct convert_each {
    __device__ static inline void word(uint32_t word, int zero, float (&weight)[HEDDLE_INT4_WORD])
    {
#pragma unroll
        for (int p = 0; p < HEDDLE_INT4_WORD; p++)
            weight[p] = (float)((int)(word >> heddle_int4_bit(p) & 15) - zero);
    }
};

static heddle_status launch(const heddle_call *call)
{
    return matmul_int4_warp_rows_launch<convert_each, 1>(call, "02_warp_per_row");
}

HEDDLE_CUDA_RUNG("matmul_int4", "02_warp_per_row", launch)
