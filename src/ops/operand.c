// Questions about an operator's operands that need only its table: sizes, types, bytes, places in a call. It is below
// the operators' own files, which use it; op.c, which knows all operators, is above them.

#include "heddle/op.h"

#include <string.h>

#include "ops/define.h"

size_t heddle_operand_elements(const heddle_op *op, int index, const void *shape)
{
    int dims[HEDDLE_MAX_DIMS];
    int rank = op->operands[index].dims(shape, dims);
    size_t elements = 1;
    for (int i = 0; i < rank; i++)
        elements *= (size_t)dims[i];
    return elements;
}

size_t heddle_operand_columns(const heddle_op *op, int index, const void *shape)
{
    int dims[HEDDLE_MAX_DIMS];
    int rank = op->operands[index].dims(shape, dims);
    return rank > 0 ? (size_t)dims[rank - 1] : 1;
}

size_t heddle_operand_bytes(const heddle_op *op, int index, const void *shape)
{
    return heddle_operand_elements(op, index, shape) * heddle_dtype_size(heddle_operand_dtype(op, index, shape));
}

// bf16: the type that HEDDLE_BF16 stands for.
heddle_cost heddle_cost_of(const heddle_operand *operands, int count, const void *shape, double flops, bool optional,
                           heddle_dtype bf16)
{
    heddle_cost cost = {.flops = flops};
    for (const heddle_operand *operand = operands; operand < operands + count; operand++) {
        if (operand->optional && !optional)
            continue;
        int dims[HEDDLE_MAX_DIMS];
        const int rank = operand->dims(shape, dims);
        double bytes = (double)heddle_dtype_size(operand->dtype == HEDDLE_BF16 ? bf16 : operand->dtype);
        for (int i = 0; i < rank; i++)
            bytes *= dims[i];
        cost.bytes_read += operand->role == HEDDLE_OUTPUT ? 0 : bytes;
        cost.bytes_written += operand->role == HEDDLE_INPUT ? 0 : bytes;
    }
    return cost;
}

heddle_dtype heddle_operand_dtype(const heddle_op *op, int index, const void *shape)
{
    const heddle_dtype dtype = op->operands[index].dtype;
    if (op->operands[index].stored)
        return op->operands[index].stored(shape);
    return dtype == HEDDLE_BF16 && op->element ? op->element(shape) : dtype;
}

int heddle_operand_find(const heddle_op *op, const char *name)
{
    for (int i = 0; i < op->operand_count; i++)
        if (strcmp(op->operands[i].name, name) == 0)
            return i;
    return -1;
}

bool heddle_operand_slot(const heddle_op *op, int index, int *slot)
{
    int inputs = 0;
    for (int i = 0; i < index; i++)
        inputs += op->operands[i].role == HEDDLE_INPUT;
    bool output = op->operands[index].role != HEDDLE_INPUT;
    *slot = output ? index - inputs : inputs;
    return output;
}
