// Runs an operator's reference on a call's operands: everything as doubles, in the workspace.

#include "ops/by_reference.h"

#include "ops/values.h"

size_t heddle_by_reference_workspace(const heddle_op *op, const void *shape)
{
    size_t elements = 0;
    for (int i = 0; i < op->operand_count; i++)
        elements += heddle_operand_elements(op, i, shape);
    return elements * sizeof(double);
}

heddle_status heddle_by_reference(const heddle_op *op, const heddle_call *call)
{
    const double *input[HEDDLE_MAX_OPERANDS] = {NULL};
    double *output[HEDDLE_MAX_OPERANDS] = {NULL}, *place = call->workspace;
    for (int i = 0; i < op->operand_count; i++) {
        const heddle_operand *operand = &op->operands[i];
        int slot;
        const bool written = heddle_operand_slot(op, i, &slot);
        const void *data = written ? call->output[slot] : call->input[slot];
        const size_t elements = heddle_operand_elements(op, i, call->shape);
        if (!data)
            continue;
        for (size_t e = 0; e < elements && operand->role != HEDDLE_OUTPUT; e++)
            place[e] = heddle_values_decode(heddle_operand_dtype(op, i, call->shape),
                                            heddle_operand_columns(op, i, call->shape), data, e);
        if (written)
            output[slot] = place;
        else
            input[slot] = place;
        place += elements;
    }
    op->reference(call->shape, input, output);
    for (int i = 0; i < op->operand_count; i++) {
        int slot;
        if (!heddle_operand_slot(op, i, &slot) || !output[slot])
            continue;
        heddle_values_encode(heddle_operand_dtype(op, i, call->shape), heddle_operand_columns(op, i, call->shape), NULL,
                             output[slot], heddle_operand_elements(op, i, call->shape), call->output[slot]);
    }
    return HEDDLE_OK;
}
