// One rung after another on values that a test writes itself, where the random ones of harness.h do not reach.
#ifndef HEDDLE_TESTS_OPS_ONE_RUNG_H
#define HEDDLE_TESTS_OPS_ONE_RUNG_H

#include "heddle/op.h"

// Fails the test if there is none.
const heddle_op *op_named(const char *name);
// From rung r on, the first for the device under test; op->rungs: there is no more.
int next_rung(const heddle_op *op, int r);
// Likewise, of those that can do the shape.
int next_able(const heddle_op *op, int from, const void *shape);
// Runs one rung now, with the workspace it asks for.
heddle_status run_rung(const heddle_op *op, const heddle_rung *rung, heddle_call call);
// Equal, or both NaN.
void assert_same(const char *op, const char *rung, float got, float expected);

#endif
