// Values of a tensor: from a seed, the same on every machine, or from a file.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check/extension.h"
#include "heddle/random.h"

static double value_at(const heddle_check_argument *one, heddle_random *random, int64_t index)
{
    switch (one->fill) {
    case HEDDLE_CHECK_FILL_ARANGE: return one->low + one->high * (double)index;
    case HEDDLE_CHECK_FILL_UNIFORM: return one->low + (one->high - one->low) * (double)heddle_random_uniform(random);
    case HEDDLE_CHECK_FILL_NORMAL: return one->low + one->high * (double)heddle_random_normal(random);
    case HEDDLE_CHECK_FILL_RANDINT: {
        double range = ceil(one->high) - ceil(one->low);
        return ceil(one->low) + heddle_random_below(random, range > UINT32_MAX ? UINT32_MAX : (uint32_t)range);
    }
    case HEDDLE_CHECK_FILL_NONE:
    case HEDDLE_CHECK_FILL_CONST:
    case HEDDLE_CHECK_FILL_FILE: break;
    }
    return one->low;
}

static heddle_status read_file(const heddle_check_argument *one, void *bytes)
{
    heddle_npy array;
    HEDDLE_TRY(heddle_npy_read(one->path, &array));
    heddle_status status = array.count == one->count
                               ? HEDDLE_OK
                               : heddle_fail(HEDDLE_INVALID, "%s: it has changed since it was first read", one->path);
    bool same = array.type == one->type;
    if (status == HEDDLE_OK && same)
        memcpy(bytes, array.data, (size_t)one->count * heddle_npy_size(one->type));
    for (int64_t i = 0; status == HEDDLE_OK && !same && i < one->count; i++) {
        double value = heddle_npy_decode(array.type, array.data, i);
        if (heddle_npy_holds(one->type, value))
            heddle_npy_encode(one->type, bytes, i, value);
        else
            status = heddle_fail(HEDDLE_INVALID, "%s: element %lld, %g, does not fit into %s", one->path, (long long)i,
                                 value, heddle_npy_name(one->type));
    }
    heddle_npy_free(&array);
    return status;
}

heddle_status heddle_check_extension_values(const heddle_check_argument *argument, void **bytes)
{
    size_t size = (size_t)argument->count * heddle_npy_size(argument->type);
    heddle_random random = heddle_random_make(argument->seed, 0);
    *bytes = malloc(size + 1);
    if (!*bytes)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for '%s', %zu bytes", argument->name, size);
    heddle_status status = HEDDLE_OK;
    if (argument->fill == HEDDLE_CHECK_FILL_FILE)
        status = read_file(argument, *bytes);
    else
        for (int64_t i = 0; i < argument->count && status == HEDDLE_OK; i++) {
            double value = value_at(argument, &random, i);
            if (heddle_npy_holds(argument->type, value))
                heddle_npy_encode(argument->type, *bytes, i, value);
            else
                status = heddle_fail(HEDDLE_INVALID, "--args: element %lld of '%s' would be %g, which %s cannot hold",
                                     (long long)i, argument->name, value, heddle_npy_name(argument->type));
        }
    if (status != HEDDLE_OK) {
        free(*bytes);
        *bytes = NULL;
    }
    return status;
}
