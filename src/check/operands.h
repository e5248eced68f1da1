// Operands of an operator in files, as the bytes of their dtypes.
#pragma once

#include <stdio.h>

#include "ops/values.h"

// False: no memory, or the file cannot be written or is too short.
bool heddle_check_operand_write(const heddle_operand_values *values, int operand, FILE *file);
bool heddle_check_operand_read(heddle_operand_values *values, int operand, FILE *file);
