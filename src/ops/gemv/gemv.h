// gemv: its operator and its rungs.
#pragma once

#include "heddle/op.h"
#include "heddle/ops.h"

extern const heddle_op heddle_op_gemv;

// y has `outputs` elements, each a sum of `length` products.
static inline int heddle_gemv_outputs(const heddle_gemv_shape *shape)
{
    return shape->transpose ? shape->n : shape->m;
}

static inline int heddle_gemv_length(const heddle_gemv_shape *shape)
{
    return shape->transpose ? shape->m : shape->n;
}

// How 03_vectorised divides its work: rows per warp, columns per block of the transposed kernel.
enum { HEDDLE_GEMV_ROWS = 4, HEDDLE_GEMV_COLS = 128 };

// Parts into which 03_vectorised splits a sum. It depends on the shape alone, so that every GPU gives the same bits:
// enough parts to fill a large GPU if there are few outputs, and none so short that adding the parts costs more.
static inline int heddle_gemv_parts(const heddle_gemv_shape *shape)
{
    const int warps = 4096, blocks = 1024, most = 1024; // in a grid that fills a large GPU; parts of one sum
    const int shortest = shape->transpose ? 64 : 1024;
    const int wide = shape->transpose ? HEDDLE_GEMV_COLS : HEDDLE_GEMV_ROWS;
    int alone = (heddle_gemv_outputs(shape) - 1) / wide + 1; // warps, or blocks, without splitting
    int wanted = ((shape->transpose ? blocks : warps) - 1) / (alone > 0 ? alone : 1) + 1;
    int possible = heddle_gemv_length(shape) / shortest;
    int parts = wanted < possible ? wanted : possible;
    return parts < 1 ? 1 : parts < most ? parts : most;
}

heddle_status heddle_gemv_cpu_naive(const heddle_call *call);
heddle_status heddle_gemv_cpu_rows(const heddle_call *call);
