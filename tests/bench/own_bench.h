// A bench on the CPU that measures the ladder of own_rungs.h.
#ifndef HEDDLE_TESTS_BENCH_OWN_BENCH_H
#define HEDDLE_TESTS_BENCH_OWN_BENCH_H

#include "bench/bench.h"
#include "own_rungs.h"

#define assert_ok(call) assert_string_equal((call) == HEDDLE_OK ? "ok" : heddle_last_error(), "ok")

typedef struct own_bench {
    heddle_device *device;
    heddle_bench *bench;
    heddle_op op; // add_forward with the tests' own ladder
} own_bench;

extern const char own_bench_shape[]; // more than a piece, and ragged
extern const heddle_bench_options own_bench_quick;

void own_bench_open(own_bench *on, const heddle_bench_options *options);
void own_bench_close(own_bench *on);
// NULL: it has no result.
const heddle_bench_result *own_bench_find(const heddle_bench *bench, const char *rung);
// Measures one rung; the last result is its.
const heddle_bench_result *own_bench_measure(own_bench *on, const char *rung);

#endif
