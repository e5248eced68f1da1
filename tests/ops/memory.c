// The memory of a call as a rung sees it: typed, between guards, outputs poisoned.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/float16.h"
#include "harness.h"

enum {
    GUARD_BYTES = 256, // on both sides; also keeps the data aligned to 256 where no offset is asked for
    GUARD_VALUE = 0xa5,
    POISON_VALUE = 0xff, // NaN in every float type, -1 in integers
    WORKSPACE = HARNESS_OPERANDS,
};

static size_t offset_bytes(const harness_memory *memory, int index)
{
    return index == WORKSPACE ? 0 : memory->offset * heddle_dtype_size(memory->op->operands[index].dtype);
}

static unsigned char *data_of(const harness_memory *memory, int index)
{
    return memory->block[index] ? memory->block[index] + GUARD_BYTES + offset_bytes(memory, index) : NULL;
}

static size_t block_size(size_t bytes, size_t offset)
{
    size_t size = GUARD_BYTES + offset + bytes + GUARD_BYTES;
    return (size + GUARD_BYTES - 1) / GUARD_BYTES * GUARD_BYTES;
}

static unsigned char *allocate(harness_memory *memory, int index, size_t bytes)
{
    size_t size = block_size(bytes, offset_bytes(memory, index));
    memory->bytes[index] = bytes;
    memory->block[index] = aligned_alloc(GUARD_BYTES, size);
    memset(memory->block[index], GUARD_VALUE, size);
    unsigned char *data = data_of(memory, index);
    memset(data, POISON_VALUE, bytes);
    return data;
}

static void write_element(heddle_dtype dtype, void *data, size_t index, double value)
{
    switch (dtype) {
    case HEDDLE_F32: ((float *)data)[index] = (float)value; break;
    case HEDDLE_F64: ((double *)data)[index] = value; break;
    case HEDDLE_I32: ((int32_t *)data)[index] = (int32_t)value; break;
    case HEDDLE_I64: ((int64_t *)data)[index] = (int64_t)value; break;
    case HEDDLE_U8: ((uint8_t *)data)[index] = (uint8_t)value; break;
    case HEDDLE_I8: ((int8_t *)data)[index] = (int8_t)value; break;
    case HEDDLE_BF16: ((uint16_t *)data)[index] = heddle_bf16_encode((float)value); break;
    case HEDDLE_F16: ((uint16_t *)data)[index] = heddle_f16_encode(value); break;
    }
}

static double read_element(heddle_dtype dtype, const void *data, size_t index)
{
    switch (dtype) {
    case HEDDLE_F32: return ((const float *)data)[index];
    case HEDDLE_F64: return ((const double *)data)[index];
    case HEDDLE_I32: return ((const int32_t *)data)[index];
    case HEDDLE_I64: return (double)((const int64_t *)data)[index];
    case HEDDLE_U8: return ((const uint8_t *)data)[index];
    case HEDDLE_I8: return ((const int8_t *)data)[index];
    case HEDDLE_BF16: return heddle_bf16_decode(((const uint16_t *)data)[index]);
    case HEDDLE_F16: return heddle_f16_decode(((const uint16_t *)data)[index]);
    }
    return 0;
}

void harness_memory_create(harness_memory *memory, const harness_values *values, const heddle_rung *rung, int threads,
                           size_t offset)
{
    memset(memory, 0, sizeof *memory);
    memory->op = values->op;
    memory->shape = values->shape;
    memory->offset = offset;
    memory->call.shape = values->shape;
    for (int i = 0; i < values->op->operand_count; i++) {
        if (values->absent[i])
            continue;
        const heddle_operand *operand = &values->op->operands[i];
        unsigned char *data = allocate(memory, i, values->elements[i] * heddle_dtype_size(operand->dtype));
        for (size_t e = 0; operand->role != HEDDLE_OUTPUT && e < values->elements[i]; e++)
            write_element(heddle_operand_dtype(values->op, i, values->shape), data, e, values->operand[i][e]);
        int slot;
        if (heddle_operand_slot(values->op, i, &slot))
            memory->call.output[slot] = data;
        else
            memory->call.input[slot] = data;
    }
    size_t workspace = rung->workspace ? rung->workspace(values->shape, threads) : 0;
    memory->call.workspace = allocate(memory, WORKSPACE, workspace);
}

void harness_memory_destroy(harness_memory *memory)
{
    for (int i = 0; i <= HARNESS_OPERANDS; i++)
        free(memory->block[i]);
}

const void *harness_memory_data(const harness_memory *memory, int operand)
{
    return data_of(memory, operand);
}

void harness_memory_read(const harness_memory *memory, int operand, double *values)
{
    heddle_dtype dtype = heddle_operand_dtype(memory->op, operand, memory->shape);
    for (size_t i = 0; i < memory->bytes[operand] / heddle_dtype_size(dtype); i++)
        values[i] = read_element(dtype, data_of(memory, operand), i);
}

static bool guards_intact(const harness_memory *memory, int index, const char *name, harness_report *report)
{
    const unsigned char *block = memory->block[index], *data = data_of(memory, index);
    const unsigned char *end = data + memory->bytes[index];
    const unsigned char *last = block + block_size(memory->bytes[index], offset_bytes(memory, index));
    for (const unsigned char *byte = block; byte < data; byte++)
        if (*byte != GUARD_VALUE)
            return harness_fail(report, "wrote %zu bytes before '%s'", (size_t)(data - byte), name);
    for (const unsigned char *byte = end; byte < last; byte++)
        if (*byte != GUARD_VALUE)
            return harness_fail(report, "wrote beyond the end of '%s', at byte %zu of %zu", name, (size_t)(byte - data),
                                memory->bytes[index]);
    return true;
}

bool harness_memory_intact(const harness_memory *memory, const harness_values *values, harness_report *report)
{
    for (int i = 0; i < memory->op->operand_count; i++) {
        const heddle_operand *operand = &memory->op->operands[i];
        if (!memory->block[i])
            continue;
        if (!guards_intact(memory, i, operand->name, report))
            return false;
        for (size_t e = 0; operand->role == HEDDLE_INPUT && e < values->elements[i]; e++) {
            heddle_dtype dtype = heddle_operand_dtype(memory->op, i, memory->shape);
            double now = read_element(dtype, data_of(memory, i), e), before = values->operand[i][e];
            if (now != before && !(isnan(now) && isnan(before)))
                return harness_fail(report, "changed input '%s' at element %zu", operand->name, e);
        }
    }
    return guards_intact(memory, WORKSPACE, "workspace", report);
}

bool harness_memory_same_outputs(const harness_memory *a, const harness_memory *b, const char *what,
                                 harness_report *report)
{
    for (int i = 0; i < a->op->operand_count; i++)
        if (a->op->operands[i].role != HEDDLE_INPUT && a->block[i] &&
            memcmp(data_of(a, i), data_of(b, i), a->bytes[i]) != 0)
            return harness_fail(report, "'%s' has other bits %s", a->op->operands[i].name, what);
    report->comparisons++;
    return true;
}
