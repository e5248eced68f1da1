// The rungs of an operator at one shape; bench.c says which they are.
#pragma once

#include "bench/bench.h"
#include "bench/verify.h"

// Precision of the vendor's rungs that a rung is compared with: tf32x3, products in three parts of tf32, stands for
// float32.
const char *heddle_bench_rival_precision(const heddle_op *op, const heddle_rung *rung);

// Measures the results from `first` on, which have their rung and nothing else yet.
heddle_status heddle_bench_measure_group(heddle_bench *bench, const void *shape, const char *only,
                                         heddle_bench_case *one, int first);

static inline bool heddle_bench_is_stopped(const heddle_bench *bench)
{
    return bench->options.stop && *bench->options.stop;
}

static inline void heddle_bench_go_away(const heddle_bench *bench, bool away)
{
    if (bench->options.away)
        bench->options.away(bench->options.listener_context, away);
}
