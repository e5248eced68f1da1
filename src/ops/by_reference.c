// Runs an operator's reference on a call's operands: everything as doubles, in the workspace.

#include "ops/by_reference.h"

#include <stdint.h>
#include <string.h>

#include "base/float16.h"

static double read_element(heddle_dtype dtype, const void *data, size_t i)
{
    switch (dtype) {
    case HEDDLE_F32: return ((const float *)data)[i];
    case HEDDLE_F64: return ((const double *)data)[i];
    case HEDDLE_BF16: return heddle_bf16_decode(((const uint16_t *)data)[i]);
    case HEDDLE_I32: return ((const int32_t *)data)[i];
    case HEDDLE_I64: return (double)((const int64_t *)data)[i];
    case HEDDLE_U8: return ((const uint8_t *)data)[i];
    case HEDDLE_I8: return ((const int8_t *)data)[i];
    case HEDDLE_F16: return heddle_f16_decode(((const uint16_t *)data)[i]);
    }
    return 0;
}

static void write_element(heddle_dtype dtype, void *data, size_t i, double value)
{
    switch (dtype) {
    case HEDDLE_F32: ((float *)data)[i] = (float)value; break;
    case HEDDLE_F64: ((double *)data)[i] = value; break;
    case HEDDLE_BF16: ((uint16_t *)data)[i] = heddle_bf16_encode((float)value); break;
    case HEDDLE_I32: ((int32_t *)data)[i] = (int32_t)value; break;
    case HEDDLE_I64: ((int64_t *)data)[i] = (int64_t)value; break;
    case HEDDLE_U8: ((uint8_t *)data)[i] = (uint8_t)value; break;
    case HEDDLE_I8: ((int8_t *)data)[i] = (int8_t)value; break;
    case HEDDLE_F16: ((uint16_t *)data)[i] = heddle_f16_encode(value); break;
    }
}

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
            place[e] = read_element(heddle_operand_dtype(op, i, call->shape), data, e);
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
        const size_t elements = heddle_operand_elements(op, i, call->shape);
        for (size_t e = 0; e < elements; e++)
            write_element(heddle_operand_dtype(op, i, call->shape), call->output[slot], e, output[slot][e]);
    }
    return HEDDLE_OK;
}
