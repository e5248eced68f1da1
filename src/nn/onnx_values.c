// Looks at the nodes of an ONNX graph: their attributes, the tensors they read, integers that describe shapes.

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nn/onnx_reader.h"

enum { REASON_SIZE = 512, MOST_LOOKED = 4096 };

heddle_status heddle_onnx_refuse(const heddle_onnx_reader *reader, const heddle_onnx_node *node, heddle_status status,
                                 const char *format, ...)
{
    char reason[REASON_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    return heddle_fail(status, "%s: %.60s%s%.60s%s: %s", reader->what, node->op, node->name[0] ? " '" : "", node->name,
                       node->name[0] ? "'" : "", reason);
}

const heddle_onnx_node *heddle_onnx_node_of(const heddle_onnx_reader *reader, int value)
{
    const int node = value < 0 ? HEDDLE_ONNX_NONE : reader->graph->values[value].node;
    return node < 0 ? NULL : &reader->graph->nodes[node];
}

bool heddle_onnx_is(const heddle_onnx_node *node, const char *op)
{
    return node && !node->domain[0] && strcmp(node->op, op) == 0;
}

bool heddle_onnx_is_image(const heddle_onnx_reader *reader, int value)
{
    return value >= 0 && reader->depth[value] >= 0;
}

// --- attributes
// ---------------------------------------------------------------------------------------------------------

static heddle_status find(const heddle_onnx_reader *reader, const heddle_onnx_node *node, const char *name,
                          heddle_onnx_kind kind, const heddle_onnx_attribute **attribute)
{
    *attribute = heddle_onnx_attribute_of(node, name);
    if (*attribute && (*attribute)->kind != kind)
        return heddle_onnx_refuse(reader, node, HEDDLE_CORRUPT, "damaged: attribute '%s' has another type", name);
    return HEDDLE_OK;
}

heddle_status heddle_onnx_int(const heddle_onnx_reader *reader, const heddle_onnx_node *node, const char *name,
                              int64_t otherwise, int64_t *integer)
{
    const heddle_onnx_attribute *attribute;
    HEDDLE_TRY(find(reader, node, name, HEDDLE_ONNX_IS_INT, &attribute));
    *integer = attribute ? attribute->integer : otherwise;
    return HEDDLE_OK;
}

heddle_status heddle_onnx_real(const heddle_onnx_reader *reader, const heddle_onnx_node *node, const char *name,
                               float otherwise, float *real)
{
    const heddle_onnx_attribute *attribute;
    HEDDLE_TRY(find(reader, node, name, HEDDLE_ONNX_IS_FLOAT, &attribute));
    *real = attribute ? attribute->real : otherwise;
    return HEDDLE_OK;
}

heddle_status heddle_onnx_same(const heddle_onnx_reader *reader, const heddle_onnx_node *node, const char *name,
                               int count, int64_t otherwise, int64_t *integer)
{
    const heddle_onnx_attribute *attribute;
    HEDDLE_TRY(find(reader, node, name, HEDDLE_ONNX_IS_INTS, &attribute));
    *integer = attribute && attribute->count > 0 ? attribute->integers[0] : otherwise;
    if (attribute && attribute->count != count)
        return heddle_onnx_refuse(reader, node, HEDDLE_UNSUPPORTED,
                                  "'%s' has %d numbers; heddle's layers are of images "
                                  "and need %d",
                                  name, attribute->count, count);
    for (int i = 0; attribute && i < count; i++)
        if (attribute->integers[i] != *integer)
            return heddle_onnx_refuse(reader, node, HEDDLE_UNSUPPORTED,
                                      "'%s' differs between height and width, or between two sides; heddle has one "
                                      "number for all",
                                      name);
    return HEDDLE_OK;
}

// --- stored tensors
// -----------------------------------------------------------------------------------------------------

heddle_status heddle_onnx_stored(const heddle_onnx_reader *reader, const heddle_onnx_node *node, int index,
                                 bool may_lack, const heddle_onnx_tensor **tensor)
{
    const int value = index < node->input_count ? node->inputs[index] : HEDDLE_ONNX_NONE;
    *tensor = NULL;
    if (value < 0 && may_lack)
        return HEDDLE_OK;
    if (value < 0)
        return heddle_onnx_refuse(reader, node, HEDDLE_CORRUPT, "damaged: input %d is missing", index + 1);
    *tensor = reader->graph->values[value].constant;
    if (!*tensor)
        return heddle_onnx_refuse(reader, node, HEDDLE_UNSUPPORTED,
                                  "input %d ('%.60s') is computed; heddle needs it stored in the file", index + 1,
                                  reader->graph->values[value].name);
    if ((*tensor)->type != HEDDLE_ONNX_FLOAT)
        return heddle_onnx_refuse(reader, node, HEDDLE_UNSUPPORTED,
                                  "input %d ('%.60s') is not float32; export the model in float32", index + 1,
                                  reader->graph->values[value].name);
    return HEDDLE_OK;
}

bool heddle_onnx_is_number(const heddle_onnx_reader *reader, int value, double number)
{
    const heddle_onnx_tensor *tensor = value < 0 ? NULL : reader->graph->values[value].constant;
    if (!tensor || tensor->type != HEDDLE_ONNX_FLOAT || tensor->elements != 1 || tensor->rank > 1)
        return false;
    const double is = (double)*(const float *)tensor->data;
    return fabs(is - number) <= 1e-6 * fabs(number);
}

bool heddle_onnx_is_with_number(const heddle_onnx_reader *reader, int value, const char *op, double number, int *other)
{
    const heddle_onnx_node *node = heddle_onnx_node_of(reader, value);
    if (!heddle_onnx_is(node, op) || node->input_count != 2)
        return false;
    const bool second = heddle_onnx_is_number(reader, node->inputs[1], number);
    const bool commutes = strcmp(op, "Div") != 0;
    *other = node->inputs[second ? 0 : 1];
    return second || (commutes && heddle_onnx_is_number(reader, node->inputs[0], number));
}

float *heddle_onnx_copy(heddle_onnx_reader *reader, size_t elements)
{
    if (elements > reader->may_copy) {
        heddle_fail(HEDDLE_UNSUPPORTED,
                    "%s: its stored tensors are used more than twice each; heddle has no shared "
                    "weights",
                    reader->what);
        return NULL;
    }
    reader->may_copy -= elements;
    float *room = heddle_onnx_room(reader->graph, elements * sizeof *room);
    if (!room)
        heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to read %s", reader->what);
    return room;
}

// A stored matrix turned.
static heddle_status transpose(heddle_onnx_reader *reader, const heddle_onnx_node *node, const heddle_onnx_tensor *from,
                               const heddle_onnx_tensor **to)
{
    const heddle_onnx_attribute *turn;
    HEDDLE_TRY(find(reader, node, "perm", HEDDLE_ONNX_IS_INTS, &turn));
    if (from->rank != 2 || from->type != HEDDLE_ONNX_FLOAT ||
        (turn && (turn->count != 2 || turn->integers[0] != 1 || turn->integers[1] != 0)))
        return HEDDLE_OK;
    heddle_onnx_tensor *made = heddle_onnx_room(reader->graph, sizeof *made);
    float *data = made ? heddle_onnx_copy(reader, from->elements) : NULL;
    if (!data)
        return made ? HEDDLE_UNSUPPORTED : heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to read %s", reader->what);
    *made = *from;
    made->dims[0] = from->dims[1];
    made->dims[1] = from->dims[0];
    made->data = data;
    const size_t rows = (size_t)from->dims[0], columns = (size_t)from->dims[1];
    for (size_t i = 0; i < from->elements; i++)
        data[i % columns * rows + i / columns] = ((const float *)from->data)[i];
    *to = made;
    return HEDDLE_OK;
}

heddle_status heddle_onnx_fold(heddle_onnx_reader *reader)
{
    for (int i = 0; i < reader->graph->node_count; i++) {
        const heddle_onnx_node *node = &reader->graph->nodes[i];
        const int from = node->input_count > 0 ? node->inputs[0] : HEDDLE_ONNX_NONE, to = node->outputs[0];
        const heddle_onnx_tensor *stored = from < 0 ? NULL : reader->graph->values[from].constant;
        if (!stored || to < 0)
            continue;
        if (heddle_onnx_is(node, "Identity"))
            reader->graph->values[to].constant = stored;
        else if (heddle_onnx_is(node, "Transpose"))
            HEDDLE_TRY(transpose(reader, node, stored, &reader->graph->values[to].constant));
    }
    return HEDDLE_OK;
}

// --- integers that describe shapes
// --------------------------------------------------------------------------------------

static bool stored_integers(const heddle_onnx_tensor *tensor, int64_t integers[HEDDLE_ONNX_INTEGERS], int *count)
{
    if (!tensor || tensor->type != HEDDLE_ONNX_INT64 || tensor->rank > 1 || tensor->elements > HEDDLE_ONNX_INTEGERS)
        return false;
    *count = (int)tensor->elements;
    if (*count > 0)
        memcpy(integers, tensor->data, (size_t)*count * sizeof *integers);
    return true;
}

// The sizes of a value on the way.
static bool shape_of(const heddle_onnx_reader *reader, const heddle_onnx_node *node,
                     int64_t integers[HEDDLE_ONNX_INTEGERS], int *count)
{
    int64_t first = 0, end = HEDDLE_ONNX_INTEGERS, all[HEDDLE_ONNX_INTEGERS] = {HEDDLE_ONNX_BATCH};
    const heddle_onnx_sample *sample = node->inputs[0] < 0 ? NULL : &reader->samples[node->inputs[0]];
    if (!sample || sample->rank == 0 || heddle_onnx_int(reader, node, "start", 0, &first) != HEDDLE_OK ||
        heddle_onnx_int(reader, node, "end", HEDDLE_ONNX_INTEGERS, &end) != HEDDLE_OK)
        return false;
    const int rank = 1 + (sample->keeps ? 3 : sample->rank);
    for (int i = 1; i < rank; i++)
        all[i] = i - 1 < sample->rank ? sample->dims[i - 1] : 1;
    first += first < 0 ? rank : 0;
    end = end < 0 ? end + rank : end > rank ? rank : end;
    *count = 0;
    for (int64_t i = first < 0 ? 0 : first; i < end; i++)
        integers[(*count)++] = all[i];
    return true;
}

static bool gather(heddle_onnx_reader *reader, const heddle_onnx_node *node, int64_t integers[HEDDLE_ONNX_INTEGERS],
                   int *count)
{
    int64_t from[HEDDLE_ONNX_INTEGERS], at[HEDDLE_ONNX_INTEGERS];
    int from_count, at_count;
    if (node->input_count != 2 || !heddle_onnx_integers(reader, node->inputs[0], from, &from_count) ||
        !heddle_onnx_integers(reader, node->inputs[1], at, &at_count))
        return false;
    for (int i = 0; i < at_count; i++) {
        const int64_t place = at[i] < 0 ? at[i] + from_count : at[i];
        if (at[i] == HEDDLE_ONNX_BATCH || place < 0 || place >= from_count)
            return false;
        integers[i] = from[place];
    }
    *count = at_count;
    return true;
}

static bool slice(heddle_onnx_reader *reader, const heddle_onnx_node *node, int64_t integers[HEDDLE_ONNX_INTEGERS],
                  int *count)
{
    int64_t from[HEDDLE_ONNX_INTEGERS], bound[2][HEDDLE_ONNX_INTEGERS], step[HEDDLE_ONNX_INTEGERS] = {1};
    int from_count, one, steps = 1;
    if (node->input_count < 3 || !heddle_onnx_integers(reader, node->inputs[0], from, &from_count))
        return false;
    for (int i = 0; i < 2; i++) {
        if (!heddle_onnx_integers(reader, node->inputs[i + 1], bound[i], &one) || one != 1)
            return false;
        bound[i][0] = bound[i][0] < 0 ? bound[i][0] + from_count : bound[i][0];
    }
    if (node->input_count > 4 && (!heddle_onnx_integers(reader, node->inputs[4], step, &steps) || steps != 1))
        return false;
    *count = 0;
    for (int64_t i = bound[0][0]; i >= 0 && i < bound[1][0] && i < from_count && step[0] == 1; i++)
        integers[(*count)++] = from[i];
    return step[0] == 1;
}

static bool concat(heddle_onnx_reader *reader, const heddle_onnx_node *node, int64_t integers[HEDDLE_ONNX_INTEGERS],
                   int *count)
{
    *count = 0;
    for (int i = 0; i < node->input_count; i++) {
        int64_t part[HEDDLE_ONNX_INTEGERS];
        int part_count;
        if (!heddle_onnx_integers(reader, node->inputs[i], part, &part_count) ||
            part_count > HEDDLE_ONNX_INTEGERS - *count)
            return false;
        memcpy(integers + *count, part, (size_t)part_count * sizeof *part);
        *count += part_count;
    }
    return true;
}

// Nodes that change the shape of a list alone, or its type.
static bool keeps_integers(const heddle_onnx_node *node)
{
    static const char *const ops[] = {"Unsqueeze", "Squeeze", "Cast", "Identity", "Reshape"};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (heddle_onnx_is(node, ops[i]))
            return true;
    return false;
}

bool heddle_onnx_integers(heddle_onnx_reader *reader, int value, int64_t integers[HEDDLE_ONNX_INTEGERS], int *count)
{
    const heddle_onnx_node *node = heddle_onnx_node_of(reader, value);
    if (value < 0 || ++reader->looked > MOST_LOOKED) // a file may have lists of lists of lists
        return false;
    if (reader->graph->values[value].constant)
        return stored_integers(reader->graph->values[value].constant, integers, count);
    if (!node || node->input_count == 0)
        return false;
    if (heddle_onnx_is(node, "Shape"))
        return shape_of(reader, node, integers, count);
    if (heddle_onnx_is(node, "Gather"))
        return gather(reader, node, integers, count);
    if (heddle_onnx_is(node, "Slice"))
        return slice(reader, node, integers, count);
    if (heddle_onnx_is(node, "Concat"))
        return concat(reader, node, integers, count);
    return keeps_integers(node) && heddle_onnx_integers(reader, node->inputs[0], integers, count);
}
