// What one_rung.h says.

#include "one_rung.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "harness.h"

const heddle_op *op_named(const char *name)
{
    const heddle_op *op;
    if (heddle_op_find(name, &op) != HEDDLE_OK)
        fail_msg("%s", heddle_last_error());
    return op;
}

int next_rung(const heddle_op *op, int r)
{
    while (r < op->rungs && !harness_runs(&op->ladder[r]))
        r++;
    return r;
}

int next_able(const heddle_op *op, int from, const void *shape)
{
    int r = next_rung(op, from);
    while (r < op->rungs && op->ladder[r].supports && !op->ladder[r].supports(shape))
        r = next_rung(op, r + 1);
    return r;
}

heddle_status run_rung(const heddle_op *op, const heddle_rung *rung, heddle_call call)
{
    size_t bytes = rung->workspace ? rung->workspace(call.shape, 1) : 0;
    call.workspace = aligned_alloc(256, (bytes + 256) / 256 * 256);
    heddle_status status = harness_launch(op, rung, &call);
    free(call.workspace);
    return status;
}

void assert_same(const char *op, const char *rung, float got, float expected)
{
    if (isnan(expected) ? !isnan(got) : got != expected)
        fail_msg("%s, rung %s: %g, expected %g", op, rung, got, expected);
}
