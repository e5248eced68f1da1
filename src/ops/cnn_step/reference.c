// cnn_step in float64: the references of the operators that it is made of, one after another.

#include <math.h>
#include <stdlib.h>

#include "ops/cnn_step/chain.h"

heddle_status heddle_cnn_step_run_reference(void *context, const heddle_op *op, const void *shape,
                                            const void *const *input, void *const *output)
{
    (void)context;
    const double *inputs[HEDDLE_MAX_OPERANDS] = {NULL};
    double *outputs[HEDDLE_MAX_OPERANDS] = {NULL};
    for (int i = 0; i < op->operand_count; i++) {
        int slot;
        if (heddle_operand_slot(op, i, &slot))
            outputs[slot] = output[slot];
        else
            inputs[slot] = input[slot];
    }
    op->reference(shape, inputs, outputs);
    return HEDDLE_OK;
}

void heddle_cnn_step_reference(const void *shape, const double *const *input, double *const *output)
{
    const heddle_cnn_step_chain chain = heddle_cnn_step_chain_of(shape);
    const void *inputs[HEDDLE_MAX_OPERANDS];
    void *outputs[HEDDLE_MAX_OPERANDS];
    for (int i = 0; i < heddle_op_cnn_step.operand_count; i++) {
        int slot;
        if (heddle_operand_slot(&heddle_op_cnn_step, i, &slot))
            outputs[slot] = output[slot];
        else
            inputs[slot] = input[slot];
    }
    void *memory = malloc(heddle_cnn_step_chain_bytes(&chain, true));
    output[0][0] = NAN; // what no rung gives, where there is no memory
    if (memory)
        heddle_cnn_step_chain_run(&chain, true, inputs, outputs, memory, heddle_cnn_step_run_reference, NULL);
    free(memory);
}
