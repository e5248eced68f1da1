// Estimates how long a launch will take.
#pragma once

#include "bench/verify.h"

// The operator at a small part of a shape, with its operands.
typedef struct heddle_bench_probe heddle_bench_probe;

// *made is NULL where the shape is so small that no rung takes long.
heddle_status heddle_bench_probe_open(const heddle_bench_place *place, const heddle_op *op, const void *shape,
                                      heddle_bench_probe **made);
void heddle_bench_probe_close(heddle_bench_probe *probe); // NULL is fine

// What a launch of the rung will take at the whole shape, if it takes as much longer there as the operator costs more.
heddle_status heddle_bench_probe_rung(const heddle_bench_probe *probe, const heddle_rung *rung, double *seconds);
