// Names of operators on the command line.
#ifndef HEDDLE_CLI_OPS_H
#define HEDDLE_CLI_OPS_H

#include "heddle/op.h"

// "relu_forward" matches itself, the name of its ladder, and "relu".
bool heddle_cli_op_is_called(const heddle_op *op, const char *name);
// Fails with "unknown operator or ladder ...", and suggests the nearest name, also of `others` (NULL-terminated, or
// NULL).
heddle_status heddle_cli_unknown_op(const char *name, const char *const *others);

#endif
