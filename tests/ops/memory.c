// The memory of a call as a rung sees it: typed, between guards, outputs poisoned.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "ops/values.h"

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
        unsigned char *data = allocate(memory, i, heddle_operand_bytes(values->op, i, values->shape));
        if (operand->role != HEDDLE_OUTPUT)
            heddle_values_encode(heddle_operand_dtype(values->op, i, values->shape),
                                 heddle_operand_columns(values->op, i, values->shape), NULL, values->operand[i],
                                 values->elements[i], data);
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

static double read_element(const harness_memory *memory, int operand, size_t index)
{
    return heddle_values_decode(heddle_operand_dtype(memory->op, operand, memory->shape),
                                heddle_operand_columns(memory->op, operand, memory->shape), data_of(memory, operand),
                                index);
}

void harness_memory_read(const harness_memory *memory, int operand, double *values)
{
    for (size_t i = 0; i < heddle_operand_elements(memory->op, operand, memory->shape); i++)
        values[i] = read_element(memory, operand, i);
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
            double now = read_element(memory, i, e), before = values->operand[i][e];
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
