// Values of operands: drawing them, their reference, and their bytes. How far a result may be off is ops/tolerance.h's.

#include "check/values.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/random.h"

heddle_status heddle_check_values_create(heddle_check_values *values, const heddle_op *op, const void *shape)
{
    *values = (heddle_check_values){.op = op, .shape = shape};
    for (int i = 0; i < op->operand_count; i++) {
        values->elements[i] = heddle_operand_elements(op, i, shape);
        values->operand[i] = calloc(values->elements[i] + 1, sizeof(double));
        if (!values->operand[i]) {
            heddle_check_values_destroy(values);
            return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the operands of %s", op->name);
        }
    }
    return HEDDLE_OK;
}

void heddle_check_values_destroy(heddle_check_values *values)
{
    for (size_t i = 0; i < sizeof values->operand / sizeof *values->operand; i++)
        free(values->operand[i]);
    memset(values->operand, 0, sizeof values->operand);
}

// --- drawing ---------------------------------------------------------------------------------------------------------

static uint64_t hash_name(const char *name)
{
    uint64_t hash = 1469598103934665603u; // FNV-1a
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 1099511628211u;
    return hash;
}

static double draw_one(const heddle_operand *operand, const void *shape, heddle_random *random)
{
    switch (operand->values) {
    case HEDDLE_VALUES_NORMAL: return heddle_random_normal(random);
    case HEDDLE_VALUES_POSITIVE: return 0.5 + heddle_random_uniform(random);
    case HEDDLE_VALUES_LABELS: return heddle_random_below(random, (uint32_t)operand->limit(shape));
    case HEDDLE_VALUES_BYTES: return heddle_random_below(random, UINT8_MAX + 1);
    case HEDDLE_VALUES_SAVED:
    case HEDDLE_VALUES_OWN: break;
    }
    return 0;
}

// By the operand's name, so that operands of one name agree between operators.
static void draw_operand(heddle_check_values *values, int index, uint64_t seed)
{
    const heddle_operand *operand = &values->op->operands[index];
    if (operand->values == HEDDLE_VALUES_OWN) {
        values->op->fill(values->shape, index, seed, values->operand[index]);
        return;
    }
    heddle_random random = heddle_random_make(seed, hash_name(operand->name));
    for (size_t i = 0; i < values->elements[index]; i++)
        values->operand[index][i] = draw_one(operand, values->shape, &random);
}

static void draw_and_round(heddle_check_values *values, uint64_t seed)
{
    for (int i = 0; i < values->op->operand_count; i++) {
        if (values->op->operands[i].role == HEDDLE_OUTPUT)
            continue;
        draw_operand(values, i, seed);
        for (size_t e = 0; values->op->operands[i].dtype == HEDDLE_F32 && e < values->elements[i]; e++)
            values->operand[i][e] = (float)values->operand[i][e];
    }
}

static const heddle_op *forward_of(const heddle_op *op)
{
    for (int i = 0; i < heddle_op_count(); i++) {
        const heddle_op *candidate = heddle_op_at(i);
        for (int g = 0; candidate->gradients && candidate->gradients[g]; g++)
            if (candidate->gradients[g] == op)
                return candidate;
    }
    return NULL;
}

heddle_status heddle_check_values_draw(heddle_check_values *values, uint64_t seed)
{
    draw_and_round(values, seed);
    const heddle_op *forward = forward_of(values->op);
    if (!forward)
        return HEDDLE_OK;
    heddle_check_values saved;
    HEDDLE_TRY(heddle_check_values_create(&saved, forward, values->shape));
    draw_and_round(&saved, seed);
    heddle_check_values_reference(&saved);
    for (int i = 0; i < values->op->operand_count; i++) {
        int source = heddle_operand_find(forward, values->op->operands[i].name);
        if (values->op->operands[i].role != HEDDLE_INPUT || source < 0 || values->elements[i] != saved.elements[source])
            continue;
        for (size_t e = 0; e < values->elements[i]; e++)
            values->operand[i][e] = values->op->operands[i].dtype == HEDDLE_F32 ? (float)saved.operand[source][e]
                                                                                : saved.operand[source][e];
    }
    heddle_check_values_destroy(&saved);
    return HEDDLE_OK;
}

void heddle_check_values_reference(heddle_check_values *values)
{
    const double *input[HEDDLE_MAX_OPERANDS] = {NULL};
    double *output[HEDDLE_MAX_OPERANDS] = {NULL};
    for (int i = 0; i < values->op->operand_count; i++) {
        int slot;
        if (heddle_operand_slot(values->op, i, &slot))
            output[slot] = values->operand[i];
        else
            input[slot] = values->operand[i];
    }
    values->op->reference(values->shape, input, output);
}

// --- bytes -----------------------------------------------------------------------------------------------------------

typedef union element {
    float f32;
    double f64;
    int32_t i32;
    int64_t i64;
    uint8_t u8;
    int8_t i8;
} element;

bool heddle_check_values_write(const heddle_check_values *values, int operand, FILE *file)
{
    heddle_dtype dtype = values->op->operands[operand].dtype;
    for (size_t i = 0; i < values->elements[operand]; i++) {
        double value = values->operand[operand][i];
        element one = {.i64 = 0};
        switch (dtype) {
        case HEDDLE_F32: one.f32 = (float)value; break;
        case HEDDLE_F64: one.f64 = value; break;
        case HEDDLE_I32: one.i32 = (int32_t)value; break;
        case HEDDLE_I64: one.i64 = (int64_t)value; break;
        case HEDDLE_U8: one.u8 = (uint8_t)value; break;
        case HEDDLE_I8: one.i8 = (int8_t)value; break;
        case HEDDLE_F16:
        case HEDDLE_BF16: return false;
        }
        if (fwrite(&one, heddle_dtype_size(dtype), 1, file) != 1)
            return false;
    }
    return true;
}

bool heddle_check_values_read(heddle_check_values *values, int operand, FILE *file)
{
    heddle_dtype dtype = values->op->operands[operand].dtype;
    for (size_t i = 0; i < values->elements[operand]; i++) {
        double *value = &values->operand[operand][i];
        element one = {.i64 = 0};
        if (fread(&one, heddle_dtype_size(dtype), 1, file) != 1)
            return false;
        switch (dtype) {
        case HEDDLE_F32: *value = one.f32; break;
        case HEDDLE_F64: *value = one.f64; break;
        case HEDDLE_I32: *value = one.i32; break;
        case HEDDLE_I64: *value = (double)one.i64; break;
        case HEDDLE_U8: *value = one.u8; break;
        case HEDDLE_I8: *value = one.i8; break;
        case HEDDLE_F16:
        case HEDDLE_BF16: return false;
        }
    }
    return true;
}
