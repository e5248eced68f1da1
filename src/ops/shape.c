// Shapes as text ("m=64 n=3 k=7"), and whether a shape is valid.

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ops/registry.h"

enum {
    MAX_FIELDS = 32, // more than any shape struct of HEDDLE_MAX_SHAPE_BYTES can hold
    WORD_SIZE = 64,
};

static const char separators[] = " \t\n,";

void heddle_suggestion(const char *nearest, char text[HEDDLE_SUGGESTION_SIZE])
{
    text[0] = '\0';
    if (nearest)
        snprintf(text, HEDDLE_SUGGESTION_SIZE, "; did you mean '%s'?", nearest);
}

static double field_get(const heddle_field *field, const void *shape)
{
    const char *place = (const char *)shape + field->offset;
    if (field->kind == HEDDLE_FIELD_FLOAT) {
        float value;
        memcpy(&value, place, sizeof value);
        return value;
    }
    int value;
    memcpy(&value, place, sizeof value);
    return value;
}

static void field_set(const heddle_field *field, void *shape, double value)
{
    char *place = (char *)shape + field->offset;
    if (field->kind == HEDDLE_FIELD_FLOAT) {
        float single = (float)value;
        memcpy(place, &single, sizeof single);
    } else {
        int whole = (int)value;
        memcpy(place, &whole, sizeof whole);
    }
}

static heddle_status field_find(const heddle_op *op, const char *name, int *index)
{
    const char *names[MAX_FIELDS];
    for (int i = 0; i < op->field_count; i++) {
        if (strcmp(op->fields[i].name, name) == 0) {
            *index = i;
            return HEDDLE_OK;
        }
        names[i] = op->fields[i].name;
    }
    char suggestion[HEDDLE_SUGGESTION_SIZE];
    heddle_suggestion(heddle_text_nearest(name, names, op->field_count), suggestion);
    return heddle_fail(HEDDLE_INVALID, "%s: a shape has no '%s'%s", op->name, name, suggestion);
}

// One "name=value".
static heddle_status parse_word(const heddle_op *op, char *word, void *shape, bool *given)
{
    char *equals = strchr(word, '=');
    if (!equals)
        return heddle_fail(HEDDLE_INVALID, "%s: '%s' in the shape is not name=value", op->name, word);
    *equals = '\0';
    int index = -1;
    HEDDLE_TRY(field_find(op, word, &index));
    const heddle_field *field = &op->fields[index];
    if (given[index])
        return heddle_fail(HEDDLE_INVALID, "%s: '%s' stands in the shape twice", op->name, field->name);

    const char *text = equals + 1;
    errno = 0;
    double value = field->kind == HEDDLE_FIELD_INT ? (double)strtoll(text, NULL, 10) : strtod(text, NULL);
    size_t length = heddle_text_number(text, field->kind == HEDDLE_FIELD_INT);
    if (length == 0 || text[length] != '\0')
        return heddle_fail(HEDDLE_INVALID, "%s: '%s=%s' in the shape is not a%s number", op->name, field->name, text,
                           field->kind == HEDDLE_FIELD_INT ? " whole" : "");
    if (errno == ERANGE || !isfinite(value) ||
        (field->kind == HEDDLE_FIELD_INT && (value > INT_MAX || value < INT_MIN)))
        return heddle_fail(HEDDLE_INVALID, "%s: '%s=%s' in the shape is out of range", op->name, field->name, text);
    field_set(field, shape, value);
    given[index] = true;
    return HEDDLE_OK;
}

static heddle_status parse_words(const heddle_op *op, const char *text, void *shape, bool *given)
{
    while (*(text += strspn(text, separators))) {
        size_t length = strcspn(text, separators);
        char word[WORD_SIZE];
        if (length >= sizeof word)
            return heddle_fail(HEDDLE_INVALID, "%s: '%.20s...' in the shape is too long", op->name, text);
        memcpy(word, text, length);
        word[length] = '\0';
        HEDDLE_TRY(parse_word(op, word, shape, given));
        text += length;
    }
    return HEDDLE_OK;
}

heddle_status heddle_shape_parse(const heddle_op *op, const char *text, void *shape)
{
    bool given[MAX_FIELDS] = {false};
    memset(shape, 0, op->shape_size);
    HEDDLE_TRY(parse_words(op, text ? text : "", shape, given));
    for (int i = 0; i < op->field_count; i++) {
        const heddle_field *field = &op->fields[i];
        if (given[i])
            continue;
        if (isnan(field->initial))
            return heddle_fail(HEDDLE_INVALID, "%s: the shape must name '%s' (%s)", op->name, field->name, field->note);
        field_set(field, shape, field->initial);
    }
    return heddle_shape_validate(op, shape);
}

const char *heddle_shape_print(const heddle_op *op, const void *shape, char *text, size_t size)
{
    if (size > 0)
        text[0] = '\0';
    size_t used = 0;
    for (int i = 0; i < op->field_count && used < size; i++) {
        // 9 digits restore any float exactly.
        int written =
            snprintf(text + used, size - used, op->fields[i].kind == HEDDLE_FIELD_FLOAT ? "%s%s=%.9g" : "%s%s=%.0f",
                     i ? " " : "", op->fields[i].name, field_get(&op->fields[i], shape));
        used += written > 0 ? (size_t)written : 0;
    }
    return text;
}

// Sizes in bytes must fit, or indices would wrap.
static heddle_status check_sizes(const heddle_op *op, const void *shape)
{
    for (int i = 0; i < op->operand_count; i++) {
        const heddle_operand *operand = &op->operands[i];
        int dims[HEDDLE_MAX_DIMS];
        int rank = operand->dims(shape, dims);
        ptrdiff_t bytes = (ptrdiff_t)heddle_dtype_size(heddle_operand_dtype(op, i, shape));
        for (int d = 0; d < rank; d++)
            if (__builtin_mul_overflow(bytes, (ptrdiff_t)dims[d], &bytes))
                return heddle_fail(HEDDLE_INVALID, "%s: operand '%s' of this shape has more bytes than can be counted",
                                   op->name, operand->name);
    }
    return HEDDLE_OK;
}

heddle_status heddle_shape_validate(const heddle_op *op, const void *shape)
{
    for (int i = 0; i < op->field_count; i++) {
        const heddle_field *field = &op->fields[i];
        double value = field_get(field, shape);
        if (!isfinite(value))
            return heddle_fail(HEDDLE_INVALID, "%s: %s is %g", op->name, field->name, value);
        if (field->kind == HEDDLE_FIELD_INT && value < 0)
            return heddle_fail(HEDDLE_INVALID, "%s: %s is %.0f, and must not be negative", op->name, field->name,
                               value);
    }
    if (op->validate)
        HEDDLE_TRY(op->validate(shape));
    return check_sizes(op, shape);
}
