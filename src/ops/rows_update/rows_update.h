// rows_weights, rows_collect, rows_update: their operators.
#ifndef HEDDLE_OPS_ROWS_UPDATE_H
#define HEDDLE_OPS_ROWS_UPDATE_H

#include "heddle/ops.h"

extern const heddle_op heddle_op_rows_weights, heddle_op_rows_collect, heddle_op_rows_update;

enum { HEDDLE_ROWS_MOST_SEGMENTS = 256 };

// The optimiser of a call: without room for its moments, one that has none.
static inline int heddle_rows_optimizer(const heddle_rows_update_shape *shape, const void *first_moment,
                                        const void *second_moment)
{
    const int possible = !first_moment ? 0 : !second_moment ? 1 : 2;
    return shape->optimizer < possible ? shape->optimizer : possible;
}

#endif
