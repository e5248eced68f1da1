// What every file that appends to a plan's trace needs: values in memory that is already there, and who shares a batch.

#include "nn/plan.h"

int heddle_plan_ranks(const heddle_plan *plan)
{
    return plan->options.dist ? heddle_dist_ranks(plan->options.dist)->ranks : 1;
}

heddle_status heddle_plan_value(heddle_plan *plan, const char *name, heddle_dtype dtype, int rank, const int *dims,
                                void *memory, heddle_value *value)
{
    HEDDLE_TRY(heddle_trace_value_add(&plan->trace, name, dtype, rank, dims, value));
    plan->trace.values[*value].memory = memory;
    return HEDDLE_OK;
}

heddle_status heddle_plan_place(heddle_plan *plan, const heddle_op *op, const void *shape, const heddle_placed *placed,
                                int count, heddle_binding *bound)
{
    for (int i = 0; i < count; i++) {
        int index = heddle_operand_find(op, placed[i].operand), dims[HEDDLE_MAX_DIMS];
        if (index < 0)
            return heddle_fail(HEDDLE_INTERNAL, "%s has no operand '%s'", op->name, placed[i].operand);
        int rank = op->operands[index].dims(shape, dims);
        bound[i].operand = placed[i].operand;
        HEDDLE_TRY(heddle_plan_value(plan, placed[i].operand, heddle_operand_dtype(op, index, shape), rank, dims,
                                     placed[i].memory, &bound[i].value));
    }
    return HEDDLE_OK;
}
