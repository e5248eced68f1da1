// Names of operators on the command line.
#pragma once

#include "heddle/op.h"

// "relu_forward" matches itself, the name of its ladder, and "relu".
bool heddle_cli_op_is_called(const heddle_op *op, const char *name);
// Fails with "unknown operator or ladder ...", and suggests the nearest name, also of `others` (NULL-terminated, or
// NULL).
heddle_status heddle_cli_unknown_op(const char *name, const char *const *others);
