// Values of fields, and whether they are the defaults.

#include "check/fields.h"

#include <math.h>
#include <string.h>

double heddle_check_field_value(const heddle_field *field, const void *shape)
{
    const char *at = (const char *)shape + field->offset;
    if (field->kind == HEDDLE_FIELD_INT) {
        int value;
        memcpy(&value, at, sizeof value);
        return value;
    }
    float value;
    memcpy(&value, at, sizeof value);
    return value;
}

bool heddle_check_is_unusual(const heddle_field *field, const void *shape)
{
    return !isnan(field->initial) && (float)field->initial != (float)heddle_check_field_value(field, shape);
}

bool heddle_check_usual_shape(const heddle_op *op, const void *shape)
{
    for (int i = 0; i < op->field_count; i++)
        if (heddle_check_is_unusual(&op->fields[i], shape))
            return false;
    return true;
}
