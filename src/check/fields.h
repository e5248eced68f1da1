// Fields of an operator's shape.
#pragma once

#include "heddle/op.h"

double heddle_check_field_value(const heddle_field *field, const void *shape);
// Whether an optional field has another value than its default.
bool heddle_check_is_unusual(const heddle_field *field, const void *shape);
// Whether every optional field has its default.
bool heddle_check_usual_shape(const heddle_op *op, const void *shape);
