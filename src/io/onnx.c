// Graphs in memory: building them node by node, and looking at them.

#include "io/onnx.h"

#include <stdlib.h>
#include <string.h>

#include "io/onnx_file.h"

enum { FIRST_ROOM = 64, MOST_ATTRIBUTES = 8 };

heddle_onnx *heddle_onnx_create(const char *name)
{
    heddle_onnx *made = calloc(1, sizeof *made);
    if (!made || !(made->arena = heddle_arena_create())) {
        free(made);
        return NULL;
    }
    made->input.value = made->output.value = HEDDLE_ONNX_NONE;
    made->name = heddle_arena_copy_text(made->arena, name);
    made->exhausted = !made->name;
    return made;
}

void heddle_onnx_close(heddle_onnx *graph)
{
    if (!graph)
        return;
    heddle_onnx_free_file(graph->file);
    free(graph->nodes);
    free(graph->values);
    free(graph->initialisers);
    free(graph->metadata);
    heddle_arena_destroy(graph->arena);
    free(graph);
}

const heddle_onnx_attribute *heddle_onnx_attribute_of(const heddle_onnx_node *node, const char *name)
{
    for (int i = 0; i < node->attribute_count; i++)
        if (strcmp(node->attributes[i].name, name) == 0)
            return &node->attributes[i];
    return NULL;
}

const char *heddle_onnx_metadata_of(const heddle_onnx *graph, const char *key)
{
    for (int i = 0; i < graph->metadata_count; i++)
        if (strcmp(graph->metadata[i].key, key) == 0)
            return graph->metadata[i].value;
    return NULL;
}

// --- building
// ---------------------------------------------------------------------------------------------------------

void *heddle_onnx_room(heddle_onnx *graph, size_t bytes)
{
    void *room = heddle_arena_alloc(graph->arena, bytes ? bytes : 1);
    graph->exhausted |= !room;
    return room;
}

static const char *copy_text(heddle_onnx *graph, const char *text)
{
    const char *copy = heddle_arena_copy_text(graph->arena, text);
    graph->exhausted |= !copy;
    return copy ? copy : "";
}

// Makes room for one more; false when there is none.
static bool grow(heddle_onnx *graph, void **items, int count, int *room, size_t size)
{
    if (count < *room)
        return true;
    const int wanted = *room ? 2 * *room : FIRST_ROOM;
    void *moved = realloc(*items, (size_t)wanted * size);
    if (!moved) {
        graph->exhausted = true;
        return false;
    }
    *items = moved;
    *room = wanted;
    return true;
}

static int add_value(heddle_onnx *graph, const char *name, int node)
{
    int room = graph->value_room;
    if (!grow(graph, (void **)&graph->initialisers, graph->value_count, &room, sizeof *graph->initialisers) ||
        !grow(graph, (void **)&graph->values, graph->value_count, &graph->value_room, sizeof *graph->values))
        return HEDDLE_ONNX_NONE;
    graph->initialisers[graph->value_count] = NULL;
    graph->values[graph->value_count] = (heddle_onnx_value){.name = copy_text(graph, name), .node = node};
    return graph->value_count++;
}

static void set_port(heddle_onnx_port *port, int value, int rank, const int64_t *dims)
{
    *port = (heddle_onnx_port){.value = value, .type = HEDDLE_ONNX_FLOAT, .rank = rank};
    memcpy(port->dims, dims, (size_t)rank * sizeof *dims);
}

int heddle_onnx_input(heddle_onnx *graph, const char *name, int rank, const int64_t *dims)
{
    const int value = add_value(graph, name, HEDDLE_ONNX_NONE);
    set_port(&graph->input, value, rank, dims);
    return value;
}

void heddle_onnx_output(heddle_onnx *graph, int value, int rank, const int64_t *dims)
{
    set_port(&graph->output, value, rank, dims);
}

int heddle_onnx_constant(heddle_onnx *graph, const char *name, int type, int rank, const int64_t *dims,
                         const void *data)
{
    const int value = add_value(graph, name, HEDDLE_ONNX_NONE);
    heddle_onnx_tensor *tensor = heddle_onnx_room(graph, sizeof *tensor);
    if (!tensor || value < 0)
        return HEDDLE_ONNX_NONE;
    *tensor = (heddle_onnx_tensor){.type = type, .rank = rank, .elements = 1, .data = data};
    for (int i = 0; i < rank; i++) {
        tensor->dims[i] = dims[i];
        tensor->elements *= (size_t)dims[i];
    }
    graph->values[value].constant = graph->initialisers[value] = tensor;
    return value;
}

static const int *copy_values(heddle_onnx *graph, const int *values, int count)
{
    int *copy = heddle_onnx_room(graph, (size_t)count * sizeof *copy);
    if (copy && count)
        memcpy(copy, values, (size_t)count * sizeof *copy);
    return copy;
}

int heddle_onnx_apply(heddle_onnx *graph, const char *op, const char *name, const int *inputs, int input_count,
                      const char *output)
{
    const int value = add_value(graph, output, graph->node_count);
    heddle_onnx_node node = {.op = copy_text(graph, op),
                             .name = copy_text(graph, name),
                             .domain = "",
                             .inputs = copy_values(graph, inputs, input_count),
                             .outputs = copy_values(graph, &value, 1),
                             .input_count = input_count,
                             .output_count = 1};
    node.attributes = heddle_onnx_room(graph, MOST_ATTRIBUTES * sizeof *node.attributes);
    if (!graph->exhausted &&
        grow(graph, (void **)&graph->nodes, graph->node_count, &graph->node_room, sizeof *graph->nodes))
        graph->nodes[graph->node_count++] = node;
    return value;
}

// Of the node that was added last.
static heddle_onnx_attribute *add_attribute(heddle_onnx *graph, const char *name, heddle_onnx_kind kind)
{
    heddle_onnx_node *node = graph->node_count ? &graph->nodes[graph->node_count - 1] : NULL;
    if (graph->exhausted || !node || node->attribute_count == MOST_ATTRIBUTES)
        return NULL;
    heddle_onnx_attribute *attribute = &node->attributes[node->attribute_count++];
    *attribute = (heddle_onnx_attribute){.name = copy_text(graph, name), .kind = kind};
    return attribute;
}

void heddle_onnx_set_int(heddle_onnx *graph, const char *name, int64_t integer)
{
    heddle_onnx_attribute *attribute = add_attribute(graph, name, HEDDLE_ONNX_IS_INT);
    if (attribute)
        attribute->integer = integer;
}

void heddle_onnx_set_float(heddle_onnx *graph, const char *name, float real)
{
    heddle_onnx_attribute *attribute = add_attribute(graph, name, HEDDLE_ONNX_IS_FLOAT);
    if (attribute)
        attribute->real = real;
}

void heddle_onnx_set_ints(heddle_onnx *graph, const char *name, const int64_t *integers, int count)
{
    heddle_onnx_attribute *attribute = add_attribute(graph, name, HEDDLE_ONNX_IS_INTS);
    int64_t *copy = heddle_onnx_room(graph, (size_t)count * sizeof *copy);
    if (!attribute || !copy)
        return;
    memcpy(copy, integers, (size_t)count * sizeof *copy);
    attribute->integers = copy;
    attribute->count = count;
}

void heddle_onnx_note(heddle_onnx *graph, const char *key, const char *text)
{
    if (grow(graph, (void **)&graph->metadata, graph->metadata_count, &graph->metadata_room, sizeof *graph->metadata))
        graph->metadata[graph->metadata_count++] =
            (heddle_text_pair){.key = copy_text(graph, key), .value = copy_text(graph, text)};
}
