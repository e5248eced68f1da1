// random: its operators, its CPU rungs, and the conversion of a word to a number, which every rung does in the same
// steps.
#pragma once

#include <stdint.h>

#include "heddle/op.h"
#include "heddle/ops.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const heddle_op heddle_op_random_bits, heddle_op_random_uniform, heddle_op_random_normal;

heddle_status heddle_random_bits_cpu_naive(const heddle_call *call);
heddle_status heddle_random_uniform_cpu_naive(const heddle_call *call);
heddle_status heddle_random_normal_cpu_naive(const heddle_call *call);
heddle_status heddle_random_bits_cpu_vectorised(const heddle_call *call);
heddle_status heddle_random_uniform_cpu_vectorised(const heddle_call *call);
heddle_status heddle_random_normal_cpu_vectorised(const heddle_call *call);

// The operand `random`.
enum { HEDDLE_RANDOM_SEED, HEDDLE_RANDOM_SEQUENCE, HEDDLE_RANDOM_POSITION, HEDDLE_RANDOM_STATE };

enum {
    HEDDLE_RANDOM_WORDS = 4,               // of a Philox block
    HEDDLE_RANDOM_HOST_SEQUENCES = 1 << 16 // that cuRAND's host API uses in turn
};

// log2 of a power of two.
static inline int heddle_random_log2(int sequences)
{
    return __builtin_ctz((unsigned)sequences);
}

// A word as a number above 0 and up to 1: the middle of its interval of 2^-32, rounded once in the conversion to float
// and once by the multiply-add, as in cuRAND's curand_uniform. The same for the radians of a turn.
#define HEDDLE_RANDOM_STEP  0x1p-32f
#define HEDDLE_RANDOM_ANGLE (6.2831855f * 0x1p-32f)

#ifdef __cplusplus
}
#endif
