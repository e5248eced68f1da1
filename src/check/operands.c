// Operands of an operator in files. Drawing them and their bytes are ops/values.h's, how far a result may be off is
// ops/tolerance.h's.

#include "check/operands.h"

#include <stdlib.h>

bool heddle_check_operand_write(const heddle_operand_values *values, int operand, FILE *file)
{
    const heddle_dtype dtype = heddle_operand_dtype(values->op, operand, values->shape);
    const size_t count = values->elements[operand], size = heddle_dtype_size(dtype);
    void *bytes = malloc(count * size + 1);
    if (!bytes)
        return false;
    heddle_values_encode(dtype, heddle_operand_columns(values->op, operand, values->shape), NULL,
                         values->operand[operand], count, bytes);
    const bool written = fwrite(bytes, size, count, file) == count;
    free(bytes);
    return written;
}

bool heddle_check_operand_read(heddle_operand_values *values, int operand, FILE *file)
{
    const heddle_dtype dtype = heddle_operand_dtype(values->op, operand, values->shape);
    const size_t count = values->elements[operand], size = heddle_dtype_size(dtype);
    void *bytes = malloc(count * size + 1);
    if (!bytes)
        return false;
    const bool read = fread(bytes, size, count, file) == count;
    const size_t columns = heddle_operand_columns(values->op, operand, values->shape);
    for (size_t i = 0; read && i < count; i++)
        values->operand[operand][i] = heddle_values_decode(dtype, columns, bytes, i);
    free(bytes);
    return read;
}
