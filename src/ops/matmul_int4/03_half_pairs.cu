// matmul_int4, rung 3: two weights become fp16 by one bit operation, and four rows share what is read of the input.
//
// Rung 2 spent its time on converting weights and on reading the input from shared memory again for every row. Here one
// instruction masks two weights and makes them fp16 numbers: put into the low bits of 1024, a weight is 1024 + weight,
// and one more instruction subtracts 1024 and the zero point of both (chunk.h). A warp has four rows, so that a number
// of the input is read once for four weights, and four loads of a lane are in flight. Products and sums are still
// float32, by rung 2's kernel.
//
// Limited by: for one row of the input, memory bandwidth, and the latency of the few loads that a row is long; for
// more, one multiplication per weight and row. Tensor cores do those.

#include "ops/matmul_int4/warp_rows.h"

struct convert_pairs {
    __device__ static inline void word(uint32_t word, int zero, float (&weight)[HEDDLE_INT4_WORD])
    {
#pragma unroll
        for (int pair = 0; pair < HEDDLE_INT4_WORD / 2; pair++) {
            const float2 two = __half22float2(int4_pair(word, pair, zero));
            weight[2 * pair] = two.x;
            weight[2 * pair + 1] = two.y;
        }
    }
};

static heddle_status launch(const heddle_call *call)
{
    return matmul_int4_warp_rows_launch<convert_pairs, 4>(call, "03_half_pairs");
}

HEDDLE_CUDA_RUNG("matmul_int4", "03_half_pairs", launch)
