// Whether a rung is right at a shape. A case is one operator at one shape on one device, with two sets of inputs and
// what is expected of each: computed once, held against every rung.
#pragma once

#include "heddle/op.h"

typedef struct heddle_bench_case heddle_bench_case;

// The two sets of inputs: the second goes into the same memory after the timing, so that a result kept from an earlier
// call is found out.
enum { HEDDLE_BENCH_SETS = 2 };

// What came of one comparison. Where it failed: the first element that was wrong.
typedef struct heddle_bench_verdict {
    bool right;
    bool telling; // an output has elements that zeros would not pass for
    const char *operand;
    size_t index;
    const char *changed; // what was written and must not be, at `index` of `operand`; NULL: `got` is too far off
    bool as_a_whole;     // HEDDLE_NORM: `expected` is the operand's norm, `got` that of its error
    double expected, got, allowed;
    double worst;       // largest |got - expected|
    double worst_share; // largest |got - expected| / allowed
} heddle_bench_verdict;

// Everything a case needs from outside; `pool` are host threads to draw and compare with.
typedef struct heddle_bench_place {
    heddle_device *device;
    heddle_stream *stream;
    heddle_pool *pool;
    uint64_t host_memory; // bytes that are free on the host
} heddle_bench_place;

// `shape` must outlive the case. HEDDLE_UNSUPPORTED: no reference can be had for this shape, with the reason.
heddle_status heddle_bench_case_create(const heddle_bench_place *place, const heddle_op *op, const void *shape,
                                       uint64_t seed, heddle_bench_case **made);
void heddle_bench_case_destroy(heddle_bench_case *one);

// The call of a rung on the case's memory. The workspace is the caller's to add.
heddle_call heddle_bench_case_call(const heddle_bench_case *one);
// Fills inputs and updates from set 0 or 1 and poisons outputs and workspace.
heddle_status heddle_bench_case_prepare(const heddle_bench_case *one, int set, void *workspace, size_t workspace_bytes);
// Holds what is in the outputs against the reference of that set. HEDDLE_UNSUPPORTED: zeros would pass at this shape.
heddle_status heddle_bench_case_compare(const heddle_bench_case *one, const heddle_rung *rung, int set,
                                        heddle_bench_verdict *verdict);
