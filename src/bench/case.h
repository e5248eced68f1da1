// What a case holds, for the files that make it (case.c) and compare with it (verify.c).
#pragma once

#include "bench/verify.h"
#include "device/device.h"
#include "ops/values.h"

enum {
    HEDDLE_BENCH_STAGE_BYTES = 64 << 20, // of operands that come back from the device at a time
    HEDDLE_BENCH_GUARD_BYTES = 4096,     // behind every operand, poisoned: shows what a rung writes out of bounds
    // Where the inputs of a sum are whole numbers the sum is exact, in any order. Rounding errors of a long sum may
    // hide an element that was left out; so for operators that only add, the second set is one of whole numbers.
    HEDDLE_BENCH_WHOLE_SET = 1,
};

static const unsigned char heddle_bench_poison[HEDDLE_BENCH_SETS] = {
    0xff, // NaN as a float
    0x7f, // and another for the second run: as an integer a poison may be the right value once, but not twice
};

typedef struct heddle_bench_expectation {
    double *operand[HEDDLE_VALUES_OPERANDS]; // outputs and updates
    double scale[HEDDLE_VALUES_OPERANDS];
} heddle_bench_expectation;

struct heddle_bench_case {
    heddle_bench_place place;
    const heddle_op *op;
    const void *shape;
    size_t elements[HEDDLE_VALUES_OPERANDS];
    size_t bytes[HEDDLE_VALUES_OPERANDS];
    void *work[HEDDLE_VALUES_OPERANDS];                        // what a rung reads and writes
    void *pristine[HEDDLE_BENCH_SETS][HEDDLE_VALUES_OPERANDS]; // inputs and updates of each set, on the device
    heddle_bench_expectation expected[HEDDLE_BENCH_SETS];
    void *stage;
};

static inline bool heddle_bench_is_read(const heddle_operand *operand)
{
    return operand->role != HEDDLE_OUTPUT;
}

static inline bool heddle_bench_has_whole_numbers(const heddle_op *op, int set)
{
    return op->exactness == HEDDLE_SUMS && set == HEDDLE_BENCH_WHOLE_SET;
}

// Bytes of guard behind an operand. None on the simulated GPU, which watches the ends of memory itself.
static inline size_t heddle_bench_guard_of(const heddle_bench_case *one, int operand)
{
    bool watched = heddle_device_get_kind(one->place.device) == HEDDLE_SIM;
    return watched || one->bytes[operand] == 0 ? 0 : HEDDLE_BENCH_GUARD_BYTES;
}
