// Shapes that differ in the fields that options.sweep names: "m=128:8192:x2", "m,n,k=256:4096".
#pragma once

#include "bench/bench.h"

// The value of the first swept field in a result's shape.
double heddle_bench_swept_value(const heddle_bench *bench, const heddle_bench_result *result);
// "m", or "m = n = k".
const char *heddle_bench_swept_names(const heddle_bench *bench, char *text, size_t size);
// Where the results of the operator that begin at `first` end.
int heddle_bench_op_end(const heddle_bench *bench, int first);
