// Shapes as text without their defaults, and made smaller.

#include "bench/shrink.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_SIZE = 320 };

void heddle_bench_print_shape(const heddle_op *op, const void *shape, char *text, size_t size)
{
    char all[TEXT_SIZE], *rest = NULL;
    size_t used = 0;
    heddle_shape_print(op, shape, all, sizeof all);
    text[0] = '\0';
    for (char *word = strtok_r(all, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        bool usual = false;
        for (int i = 0; i < op->field_count; i++) {
            const heddle_field *field = &op->fields[i];
            size_t length = strlen(field->name);
            if (strncmp(word, field->name, length) == 0 && word[length] == '=')
                usual = (float)strtod(word + length + 1, NULL) == (float)field->initial; // NAN, must be named: never
        }
        if (!usual && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? " " : "", word);
    }
}

static bool is_within(const heddle_op *op, const void *shape, const heddle_bench_budget *budget)
{
    heddle_cost cost = op->cost(shape);
    return cost.flops <= budget->flops && cost.bytes_read + cost.bytes_written <= budget->bytes;
}

static bool costs_less(const heddle_op *op, const void *shape, const void *than)
{
    heddle_cost left = op->cost(shape), right = op->cost(than);
    return left.flops + left.bytes_read + left.bytes_written < right.flops + right.bytes_read + right.bytes_written;
}

// Halves the largest number that can be halved, or the first; false: none can, or it would cost no less.
static bool halve(const heddle_op *op, void *shape, bool first)
{
    _Alignas(max_align_t) char best[HEDDLE_MAX_SHAPE_BYTES], tried[HEDDLE_MAX_SHAPE_BYTES];
    int largest = 1;
    for (int i = 0; i < op->field_count; i++) {
        int value;
        if (op->fields[i].kind != HEDDLE_FIELD_INT)
            continue;
        memcpy(&value, (const char *)shape + op->fields[i].offset, sizeof value);
        if (value <= largest)
            continue;
        memcpy(tried, shape, sizeof tried);
        memcpy(tried + op->fields[i].offset, &(int){value / 2}, sizeof value);
        if (heddle_shape_validate(op, tried) != HEDDLE_OK || !costs_less(op, tried, shape))
            continue;
        memcpy(best, tried, sizeof best);
        largest = value;
        if (first)
            break;
    }
    if (largest > 1)
        memcpy(shape, best, sizeof best);
    return largest > 1;
}

void heddle_bench_take_part(const heddle_op *op, void *shape, const heddle_bench_budget *budget)
{
    while (!is_within(op, shape, budget) && halve(op, shape, true))
        ;
}

heddle_status heddle_bench_shrink(const heddle_op *op, const char *given, const heddle_bench_budget *budget, char *text,
                                  size_t size)
{
    _Alignas(max_align_t) char shape[HEDDLE_MAX_SHAPE_BYTES] = {0};
    HEDDLE_TRY(heddle_shape_parse(op, given, shape));
    while (!is_within(op, shape, budget) && halve(op, shape, false))
        ;
    heddle_bench_print_shape(op, shape, text, size);
    return HEDDLE_OK;
}
