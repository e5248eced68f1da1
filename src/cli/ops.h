// What `heddle ops` shares between its table and its JSON form.
#ifndef HEDDLE_CLI_OPS_H
#define HEDDLE_CLI_OPS_H

#include "heddle/op.h"

const char *heddle_cli_tier_name(heddle_tier tier);
const char *heddle_cli_role_name(heddle_role role);
// A shape of the operator as text, to show the sizes of its operands; NULL when it has none.
const char *heddle_cli_example_shape(const heddle_op *op);

// "relu_forward" is called that, by the name of its ladder, and "relu".
bool heddle_cli_op_is_called(const heddle_op *op, const char *name);

// The operators called `name` (NULL: all) as JSON.
struct cJSON *heddle_cli_ops_json(const char *name);

#endif
