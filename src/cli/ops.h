// Names of operators on the command line.
#ifndef HEDDLE_CLI_OPS_H
#define HEDDLE_CLI_OPS_H

#include "heddle/op.h"

// "relu_forward" matches itself, the name of its ladder, and "relu".
bool heddle_cli_op_is_called(const heddle_op *op, const char *name);

#endif
