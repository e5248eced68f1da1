// The rung cpu_reference: an operator's float64 reference, run as a rung. For operators made for GPUs; their references
// are the simplest loops possible.
#pragma once

#include "heddle/op.h"

heddle_status heddle_by_reference(const heddle_op *op, const heddle_call *call);
size_t heddle_by_reference_workspace(const heddle_op *op, const void *shape);

// The two functions of a rung for operator `name`, static in the operator's own file.
#define HEDDLE_BY_REFERENCE(name)                                                                                      \
    static heddle_status name##_by_reference(const heddle_call *call)                                                  \
    {                                                                                                                  \
        return heddle_by_reference(&heddle_op_##name, call);                                                           \
    }                                                                                                                  \
    static size_t name##_by_reference_workspace(const void *shape, int threads)                                        \
    {                                                                                                                  \
        (void)threads;                                                                                                 \
        return heddle_by_reference_workspace(&heddle_op_##name, shape);                                                \
    }
// Its row of the ladder.
#define HEDDLE_REFERENCE_RUNG(name)                                                                                    \
    {                                                                                                                  \
        "cpu_reference", HEDDLE_CPU, HEDDLE_NAIVE, name##_by_reference, "the float64 reference itself, one thread",    \
            NULL, name##_by_reference_workspace                                                                        \
    }
