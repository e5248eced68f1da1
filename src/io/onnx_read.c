// Reads ONNX files. protobuf-c takes the messages apart; this file checks what they say and makes a graph of it.
// Nothing in a file is believed: sizes are compared with what is there, names are looked up, and a small file cannot
// ask for much memory.

#include "io/onnx.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "io/onnx_file.h"

#if !HEDDLE_HAVE_PROTOBUF

bool heddle_onnx_is_built(void)
{
    return false;
}

static heddle_status not_built(void)
{
    return heddle_fail(HEDDLE_MISSING, "this build cannot read ONNX files: install protobuf-c-compiler and "
                                       "libprotobuf-c-dev, then rebuild heddle");
}

heddle_status heddle_onnx_open(const char *path, heddle_onnx **graph)
{
    (void)path;
    *graph = NULL;
    return not_built();
}

heddle_status heddle_onnx_parse(const char *what, const void *content, size_t size, heddle_onnx **graph)
{
    (void)what, (void)content, (void)size;
    *graph = NULL;
    return not_built();
}

void heddle_onnx_free_file(void *file)
{
    (void)file;
}

#else

#include "io/onnx.pb-c.h"

typedef Heddle__Wire__Model wire_model;
typedef Heddle__Wire__Graph wire_graph;
typedef Heddle__Wire__Node wire_node;
typedef Heddle__Wire__Tensor wire_tensor;
typedef Heddle__Wire__Attribute wire_attribute;
typedef Heddle__Wire__ValueInfo wire_port;

enum {
    MOST_NODES = 16384,
    MOST_TENSORS = 16384,
    MOST_OUTPUTS = 16, // of one node
    LEAST_OPSET = 9,   // before it, BatchNormalization and others meant something else
    EXTERNAL = 1,      // of data_location
    SHOWN = 80,        // bytes of a name in a message
    MESSAGE_BYTES_PER_BYTE = 4,
    MESSAGE_BYTES = 64 << 20,
};

bool heddle_onnx_is_built(void)
{
    return true;
}

void heddle_onnx_free_file(void *file)
{
    if (file)
        heddle__wire__model__free_unpacked(file, NULL);
}

// --- memory
// -----------------------------------------------------------------------------------------------------------

// An empty message is two bytes of a file and a hundred of memory: what a file may cost is limited by its size.
typedef struct budget {
    size_t left;
    bool spent;
} budget;

static void *allocate(void *context, size_t size)
{
    budget *of = context;
    if (size > of->left) {
        of->spent = true;
        return NULL;
    }
    of->left -= size;
    return malloc(size ? size : 1);
}

static void release(void *context, void *memory)
{
    (void)context;
    free(memory);
}

// --- names
// ------------------------------------------------------------------------------------------------------------

// Everything that reading holds.
typedef struct reading {
    const char *what;
    heddle_onnx *graph;
    int *table; // values by the hash of their names; HEDDLE_ONNX_NONE: free
    size_t mask;
} reading;

static heddle_status no_memory(const reading *reader)
{
    return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to read %s", reader->what);
}

// A name in a message: short and on one line.
static const char *shown(const char *name, char text[SHOWN])
{
    snprintf(text, SHOWN, "%s", name ? name : "");
    heddle_text_one_line(text);
    return text;
}

static size_t hash_of(const char *name)
{
    uint64_t hash = 0xcbf29ce484222325ULL;
    for (const char *c = name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 0x100000001b3ULL;
    return (size_t)(hash ^ hash >> 32);
}

// The place of a name in the table: of its value, or where one would go.
static int *find_place(const reading *reader, const char *name)
{
    size_t at = hash_of(name) & reader->mask;
    while (reader->table[at] >= 0 && strcmp(reader->graph->values[reader->table[at]].name, name) != 0)
        at = (at + 1) & reader->mask;
    return &reader->table[at];
}

static heddle_status add_value(const reading *reader, const char *name, int node, int *value)
{
    char text[SHOWN];
    heddle_onnx *graph = reader->graph;
    int *place = find_place(reader, name);
    if (*place >= 0)
        return heddle_fail(HEDDLE_CORRUPT, "%s: damaged: two values are called '%s'", reader->what, shown(name, text));
    *place = *value = graph->value_count++;
    graph->values[*value] = (heddle_onnx_value){.name = name, .node = node};
    return HEDDLE_OK;
}

// --- tensors
// ----------------------------------------------------------------------------------------------------------

static const struct type {
    const char *name;
    size_t size;
} types[] = {
    [1] = {"float32", 4}, [2] = {"uint8", 1},   [3] = {"int8", 1},      [4] = {"uint16", 2},   [5] = {"int16", 2},
    [6] = {"int32", 4},   [7] = {"int64", 8},   [9] = {"bool", 1},      [10] = {"float16", 2}, [11] = {"float64", 8},
    [12] = {"uint32", 4}, [13] = {"uint64", 8}, [16] = {"bfloat16", 2},
};

static heddle_status count_elements(const reading *reader, const wire_tensor *from, const char *name, size_t *elements)
{
    *elements = 1;
    for (size_t i = 0; i < from->n_dims; i++)
        if (from->dims[i] < 0 || __builtin_mul_overflow(*elements, (size_t)from->dims[i], elements) ||
            *elements > SIZE_MAX / sizeof(double))
            return heddle_fail(HEDDLE_CORRUPT, "%s: damaged: tensor '%s' has a size of %lld", reader->what, name,
                               (long long)from->dims[i]);
    return HEDDLE_OK;
}

// Where a tensor's numbers are: as bytes, or in a list of their type.
static heddle_status find_data(const reading *reader, const wire_tensor *from, const char *name,
                               heddle_onnx_tensor *tensor)
{
    const struct type *type = &types[tensor->type];
    const size_t listed = tensor->type == HEDDLE_ONNX_FLOAT   ? from->n_float_data
                          : tensor->type == HEDDLE_ONNX_INT64 ? from->n_int64_data
                          : tensor->type == HEDDLE_ONNX_INT32 ? from->n_int32_data
                                                              : 0;
    const void *list = tensor->type == HEDDLE_ONNX_FLOAT   ? (const void *)from->float_data
                       : tensor->type == HEDDLE_ONNX_INT64 ? (const void *)from->int64_data
                                                           : (const void *)from->int32_data;
    const size_t there = from->has_raw_data ? from->raw_data.len : listed * type->size;
    if (!from->has_raw_data && !listed && from->n_int32_data > 0)
        return heddle_fail(HEDDLE_UNSUPPORTED, "%s: tensor '%s' is a list of %s, which heddle does not read",
                           reader->what, name, type->name);
    if (there != tensor->elements * type->size)
        return heddle_fail(HEDDLE_CORRUPT, "%s: damaged: tensor '%s' has %zu bytes, its shape says %zu", reader->what,
                           name, there, tensor->elements * type->size);
    tensor->data = from->has_raw_data ? from->raw_data.data : list;
    return HEDDLE_OK;
}

static heddle_status read_tensor(const reading *reader, const wire_tensor *from, heddle_onnx_tensor *tensor)
{
    char name[SHOWN];
    shown(from->name, name);
    *tensor = (heddle_onnx_tensor){.type = from->data_type, .rank = (int)from->n_dims};
    if (from->data_location == EXTERNAL || from->n_external_data > 0)
        return heddle_fail(HEDDLE_UNSUPPORTED,
                           "%s: tensor '%s' is in another file (external data); save the model in one file, in Python "
                           "with onnx.save(onnx.load(path), path)",
                           reader->what, name);
    if (from->has_segment)
        return heddle_fail(HEDDLE_UNSUPPORTED, "%s: tensor '%s' is stored in segments, which heddle does not read",
                           reader->what, name);
    if (from->n_dims > HEDDLE_ONNX_RANK)
        return heddle_fail(HEDDLE_UNSUPPORTED, "%s: tensor '%s' has %zu dimensions; heddle reads up to %d",
                           reader->what, name, from->n_dims, HEDDLE_ONNX_RANK);
    if (tensor->type < 0 || (size_t)tensor->type >= sizeof types / sizeof *types || !types[tensor->type].size)
        return heddle_fail(HEDDLE_UNSUPPORTED, "%s: tensor '%s' has numbers of type %d, which heddle does not read",
                           reader->what, name, tensor->type);
    HEDDLE_TRY(count_elements(reader, from, name, &tensor->elements));
    if (from->n_dims > 0)
        memcpy(tensor->dims, from->dims, from->n_dims * sizeof *from->dims);
    return find_data(reader, from, name, tensor);
}

static heddle_status read_initialisers(const reading *reader, const wire_graph *from)
{
    char name[SHOWN];
    heddle_onnx *graph = reader->graph;
    for (size_t i = 0; i < from->n_initializer; i++) {
        const wire_tensor *tensor = from->initializer[i];
        int value = 0;
        if (!tensor->name || !tensor->name[0])
            return heddle_fail(HEDDLE_CORRUPT, "%s: damaged: initialiser %zu has no name", reader->what, i + 1);
        HEDDLE_TRY(add_value(reader, tensor->name, HEDDLE_ONNX_NONE, &value));
        heddle_onnx_tensor *made = heddle_onnx_room(graph, sizeof *made);
        if (!made)
            return no_memory(reader);
        HEDDLE_TRY(read_tensor(reader, tensor, made));
        if (made->type == HEDDLE_ONNX_FLOAT && !made->data && made->elements)
            return heddle_fail(HEDDLE_CORRUPT, "%s: damaged: initialiser '%s' is empty", reader->what,
                               shown(tensor->name, name));
        graph->initialisers[value] = made;
        graph->values[value].constant = made;
    }
    return HEDDLE_OK;
}

// --- nodes
// ------------------------------------------------------------------------------------------------------------

static heddle_status read_attribute(const reading *reader, const wire_attribute *from, const char *op,
                                    heddle_onnx_attribute *attribute)
{
    char name[SHOWN];
    if (!from->name || (from->ref_attr_name && from->ref_attr_name[0]))
        return heddle_fail(HEDDLE_CORRUPT, "%s: damaged: an attribute of a %s has no %s", reader->what, op,
                           from->name ? "value" : "name");
    if (from->has_g)
        return heddle_fail(HEDDLE_UNSUPPORTED, "%s: %s has a graph inside it (%s); heddle has no control flow",
                           reader->what, op, shown(from->name, name));
    if (from->n_ints > INT_MAX || from->n_floats > INT_MAX)
        return heddle_fail(HEDDLE_CORRUPT, "%s: damaged: an attribute of a %s is too long", reader->what, op);
    *attribute = (heddle_onnx_attribute){.name = from->name,
                                         .kind = (heddle_onnx_kind)from->type,
                                         .real = from->f,
                                         .integer = from->i,
                                         .text = "",
                                         .reals = from->floats,
                                         .integers = from->ints};
    attribute->count = (int)(attribute->kind == HEDDLE_ONNX_IS_INTS ? from->n_ints : from->n_floats);
    if (attribute->kind == HEDDLE_ONNX_IS_TEXT) {
        char *text = heddle_onnx_room(reader->graph, from->s.len + 1);
        if (!text)
            return no_memory(reader);
        if (from->s.len > 0)
            memcpy(text, from->s.data, from->s.len);
        heddle_text_one_line(text);
        attribute->text = text;
    }
    if (attribute->kind != HEDDLE_ONNX_IS_TENSOR)
        return HEDDLE_OK;
    if (!from->t)
        return heddle_fail(HEDDLE_CORRUPT, "%s: damaged: attribute '%s' of a %s has no tensor", reader->what,
                           shown(from->name, name), op);
    return read_tensor(reader, from->t, &attribute->tensor);
}

static heddle_status read_inputs(const reading *reader, const wire_node *from, const char *op, heddle_onnx_node *node)
{
    char name[SHOWN];
    int *inputs = heddle_onnx_room(reader->graph, from->n_input * sizeof *inputs);
    if (!inputs)
        return no_memory(reader);
    for (size_t i = 0; i < from->n_input; i++) {
        inputs[i] = from->input[i][0] ? *find_place(reader, from->input[i]) : HEDDLE_ONNX_NONE;
        if (inputs[i] < 0 && from->input[i][0])
            return heddle_fail(HEDDLE_CORRUPT,
                               "%s: damaged: %s reads '%s', which nothing before it computes: an initialiser is "
                               "missing, or the graph has a cycle",
                               reader->what, op, shown(from->input[i], name));
    }
    node->inputs = inputs;
    node->input_count = (int)from->n_input;
    return HEDDLE_OK;
}

// A Constant's result is known.
static heddle_status read_constant(const reading *reader, heddle_onnx_node *node)
{
    heddle_onnx_tensor *tensor = heddle_onnx_room(reader->graph, sizeof *tensor);
    if (!tensor)
        return no_memory(reader);
    if (node->attribute_count != 1 || node->output_count != 1 || node->outputs[0] < 0)
        return heddle_fail(HEDDLE_CORRUPT, "%s: damaged: a Constant without one value", reader->what);
    const heddle_onnx_attribute *of = &node->attributes[0];
    const bool real = of->kind == HEDDLE_ONNX_IS_FLOAT || of->kind == HEDDLE_ONNX_IS_FLOATS;
    const bool list = of->kind == HEDDLE_ONNX_IS_FLOATS || of->kind == HEDDLE_ONNX_IS_INTS;
    *tensor = (heddle_onnx_tensor){.type = real ? HEDDLE_ONNX_FLOAT : HEDDLE_ONNX_INT64, .rank = list};
    tensor->dims[0] = list ? of->count : 0;
    tensor->elements = list ? (size_t)of->count : 1;
    switch (of->kind) {
    case HEDDLE_ONNX_IS_TENSOR: *tensor = of->tensor; break;
    case HEDDLE_ONNX_IS_FLOAT: tensor->data = &of->real; break;
    case HEDDLE_ONNX_IS_INT: tensor->data = &of->integer; break;
    case HEDDLE_ONNX_IS_FLOATS: tensor->data = of->reals; break;
    case HEDDLE_ONNX_IS_INTS: tensor->data = of->integers; break;
    default: return heddle_fail(HEDDLE_UNSUPPORTED, "%s: a Constant that is text", reader->what);
    }
    reader->graph->values[node->outputs[0]].constant = tensor;
    return HEDDLE_OK;
}

static heddle_status read_node(const reading *reader, const wire_node *from)
{
    char op[SHOWN];
    heddle_onnx *graph = reader->graph;
    heddle_onnx_node *node = &graph->nodes[graph->node_count];
    const char *domain = from->domain && strcmp(from->domain, "ai.onnx") != 0 ? from->domain : "";
    if (!from->op_type || !from->op_type[0])
        return heddle_fail(HEDDLE_CORRUPT, "%s: damaged: node %d has no operator", reader->what, graph->node_count + 1);
    *node = (heddle_onnx_node){.op = from->op_type, .name = from->name ? from->name : "", .domain = domain};
    shown(node->op, op);
    HEDDLE_TRY(read_inputs(reader, from, op, node));
    int *outputs = heddle_onnx_room(graph, from->n_output * sizeof *outputs);
    node->attributes = heddle_onnx_room(graph, from->n_attribute * sizeof *node->attributes);
    if (!outputs || !node->attributes)
        return no_memory(reader);
    if (from->n_output == 0 || from->n_output > MOST_OUTPUTS)
        return heddle_fail(HEDDLE_UNSUPPORTED, "%s: %s has %zu outputs; heddle reads nodes with 1 to %d", reader->what,
                           op, from->n_output, MOST_OUTPUTS);
    for (size_t i = 0; i < from->n_attribute; i++)
        HEDDLE_TRY(read_attribute(reader, from->attribute[i], op, &node->attributes[node->attribute_count++]));
    node->outputs = outputs;
    for (size_t i = 0; i < from->n_output; i++) {
        outputs[i] = HEDDLE_ONNX_NONE;
        if (from->output[i][0])
            HEDDLE_TRY(add_value(reader, from->output[i], graph->node_count, &outputs[i]));
        node->output_count++;
    }
    graph->node_count++;
    return strcmp(node->op, "Constant") == 0 && !domain[0] ? read_constant(reader, node) : HEDDLE_OK;
}

// --- the graph
// --------------------------------------------------------------------------------------------------------

static heddle_status read_port(const reading *reader, const wire_port *from, const char *which, heddle_onnx_port *port)
{
    const Heddle__Wire__TensorType *type = from->type ? from->type->tensor_type : NULL;
    char name[SHOWN];
    shown(from->name, name);
    if (!type)
        return heddle_fail(HEDDLE_UNSUPPORTED, "%s: its %s '%s' is not a tensor", reader->what, which, name);
    port->type = type->elem_type;
    port->rank = type->shape ? (int)type->shape->n_dim : 0;
    if (type->shape && type->shape->n_dim > HEDDLE_ONNX_RANK)
        return heddle_fail(HEDDLE_UNSUPPORTED, "%s: its %s '%s' has %zu dimensions; heddle reads up to %d",
                           reader->what, which, name, type->shape->n_dim, HEDDLE_ONNX_RANK);
    for (int i = 0; i < port->rank; i++)
        port->dims[i] = type->shape->dim[i]->has_dim_value ? type->shape->dim[i]->dim_value : HEDDLE_ONNX_ANY;
    return HEDDLE_OK;
}

// The inputs: old files name their initialisers among them.
static heddle_status read_input(const reading *reader, const wire_graph *from)
{
    char name[SHOWN];
    heddle_onnx_port *input = &reader->graph->input;
    for (size_t i = 0; i < from->n_input; i++) {
        const wire_port *port = from->input[i];
        if (!port->name || !port->name[0])
            return heddle_fail(HEDDLE_CORRUPT, "%s: damaged: input %zu has no name", reader->what, i + 1);
        if (*find_place(reader, port->name) >= 0)
            continue;
        if (input->value >= 0)
            return heddle_fail(HEDDLE_UNSUPPORTED, "%s: it has a second input, '%s'; heddle reads models of one",
                               reader->what, shown(port->name, name));
        HEDDLE_TRY(read_port(reader, port, "input", input));
        HEDDLE_TRY(add_value(reader, port->name, HEDDLE_ONNX_NONE, &input->value));
    }
    return input->value >= 0 ? HEDDLE_OK : heddle_fail(HEDDLE_CORRUPT, "%s: it has no input", reader->what);
}

static heddle_status read_output(const reading *reader, const wire_graph *from)
{
    heddle_onnx_port *output = &reader->graph->output;
    char name[SHOWN];
    if (from->n_output != 1)
        return heddle_fail(HEDDLE_UNSUPPORTED, "%s: it has %zu outputs; heddle reads models of one", reader->what,
                           from->n_output);
    const char *called = from->output[0]->name ? from->output[0]->name : "";
    if (from->output[0]->type)
        HEDDLE_TRY(read_port(reader, from->output[0], "output", output));
    output->value = *find_place(reader, called);
    return output->value >= 0 ? HEDDLE_OK
                              : heddle_fail(HEDDLE_CORRUPT, "%s: damaged: nothing computes its output '%s'",
                                            reader->what, shown(called, name));
}

static heddle_status make_room(reading *reader, const wire_graph *from)
{
    heddle_onnx *graph = reader->graph;
    size_t values = from->n_initializer + from->n_input, places = 64;
    if (from->n_node > MOST_NODES || from->n_initializer > MOST_TENSORS || from->n_input > MOST_TENSORS)
        return heddle_fail(HEDDLE_UNSUPPORTED, "%s: %zu nodes and %zu initialisers; heddle reads up to %d of each",
                           reader->what, from->n_node, from->n_initializer, MOST_NODES);
    for (size_t i = 0; i < from->n_node; i++)
        values += from->node[i]->n_output < MOST_OUTPUTS ? from->node[i]->n_output : MOST_OUTPUTS;
    while (places < 2 * values)
        places *= 2;
    reader->table = malloc(places * sizeof *reader->table);
    reader->mask = places - 1;
    graph->nodes = calloc(from->n_node + 1, sizeof *graph->nodes);
    graph->values = calloc(values + 1, sizeof *graph->values);
    graph->initialisers = calloc(values + 1, sizeof *graph->initialisers);
    if (!reader->table || !graph->nodes || !graph->values || !graph->initialisers)
        return no_memory(reader);
    for (size_t i = 0; i < places; i++)
        reader->table[i] = HEDDLE_ONNX_NONE;
    return HEDDLE_OK;
}

// Of a message, or "" in place of one that is missing.
static void clean_name(const char *name)
{
    if (name && name[0])
        heddle_text_one_line((char *)name);
}

// Names are shown on one line. Two that are the same then are the same for everything that looks for names later, so
// they are changed before the first is looked up.
static void clean_names(const wire_graph *graph)
{
    for (size_t i = 0; i < graph->n_initializer; i++)
        clean_name(graph->initializer[i]->name);
    for (size_t i = 0; i < graph->n_input; i++)
        clean_name(graph->input[i]->name);
    for (size_t i = 0; i < graph->n_output; i++)
        clean_name(graph->output[i]->name);
    for (size_t i = 0; i < graph->n_node; i++) {
        const wire_node *node = graph->node[i];
        clean_name(node->op_type);
        clean_name(node->name);
        clean_name(node->domain);
        for (size_t j = 0; j < node->n_input; j++)
            clean_name(node->input[j]);
        for (size_t j = 0; j < node->n_output; j++)
            clean_name(node->output[j]);
    }
}

static heddle_status read_model(reading *reader, const wire_model *from)
{
    heddle_onnx *graph = reader->graph;
    for (size_t i = 0; i < from->n_opset_import; i++) {
        const char *domain = from->opset_import[i]->domain;
        if (!domain || !domain[0] || strcmp(domain, "ai.onnx") == 0)
            graph->opset = from->opset_import[i]->version;
    }
    if (!from->graph)
        return heddle_fail(HEDDLE_CORRUPT, "%s is not an ONNX file, or it is damaged: it has no graph", reader->what);
    if (graph->opset < LEAST_OPSET)
        return heddle_fail(HEDDLE_UNSUPPORTED, "%s: it is of opset %lld; heddle reads opset %d and later", reader->what,
                           (long long)graph->opset, LEAST_OPSET);
    if (from->n_functions > 0)
        return heddle_fail(HEDDLE_UNSUPPORTED,
                           "%s: it defines functions of its own; inline them, in Python with "
                           "onnx.inliner.inline_local_functions",
                           reader->what);
    if (from->graph->n_sparse_initializer > 0)
        return heddle_fail(HEDDLE_UNSUPPORTED, "%s: it has sparse initialisers, which heddle does not read",
                           reader->what);
    clean_names(from->graph);
    HEDDLE_TRY(make_room(reader, from->graph));
    HEDDLE_TRY(read_initialisers(reader, from->graph));
    HEDDLE_TRY(read_input(reader, from->graph));
    for (size_t i = 0; i < from->graph->n_node; i++)
        HEDDLE_TRY(read_node(reader, from->graph->node[i]));
    return read_output(reader, from->graph);
}

static heddle_status read_notes(const reading *reader, const wire_model *from)
{
    heddle_onnx *graph = reader->graph;
    char producer[2 * SHOWN];
    snprintf(producer, sizeof producer, "%s %s", from->producer_name ? from->producer_name : "",
             from->producer_version ? from->producer_version : "");
    heddle_text_one_line(producer);
    graph->producer = heddle_arena_copy_text(graph->arena, producer);
    for (size_t i = 0; i < from->n_metadata_props; i++)
        if (from->metadata_props[i]->key && from->metadata_props[i]->value)
            heddle_onnx_note(graph, from->metadata_props[i]->key, from->metadata_props[i]->value);
    return graph->producer && !graph->exhausted ? HEDDLE_OK : no_memory(reader);
}

heddle_status heddle_onnx_parse(const char *what, const void *content, size_t size, heddle_onnx **graph)
{
    *graph = NULL;
    budget memory = {.left = MESSAGE_BYTES};
    memory.left += size < SIZE_MAX / 8 ? MESSAGE_BYTES_PER_BYTE * size : 0;
    ProtobufCAllocator allocator = {.alloc = allocate, .free = release, .allocator_data = &memory};
    wire_model *model = heddle__wire__model__unpack(&allocator, size, content);
    if (!model && memory.spent)
        return heddle_fail(HEDDLE_CORRUPT, "%s: damaged: its %zu bytes claim to be more than %zu in memory", what, size,
                           (size_t)MESSAGE_BYTES + MESSAGE_BYTES_PER_BYTE * size);
    if (!model)
        return heddle_fail(HEDDLE_CORRUPT, "%s is not an ONNX file, or it is damaged", what);
    reading reader = {.what = what, .graph = heddle_onnx_create("")};
    if (!reader.graph) {
        heddle_onnx_free_file(model);
        return no_memory(&reader);
    }
    reader.graph->file = model;
    heddle_status status = read_model(&reader, model);
    if (status == HEDDLE_OK)
        status = read_notes(&reader, model);
    free(reader.table);
    if (status != HEDDLE_OK) {
        heddle_onnx_close(reader.graph);
        return status;
    }
    *graph = reader.graph;
    return HEDDLE_OK;
}

heddle_status heddle_onnx_open(const char *path, heddle_onnx **graph)
{
    char *content;
    size_t size;
    *graph = NULL;
    heddle_status status = heddle_file_read(path, INT_MAX, &content, &size);
    if (status == HEDDLE_CORRUPT)
        return heddle_fail(HEDDLE_CORRUPT, "%s is larger than 2 GiB, which no ONNX file can be", path);
    HEDDLE_TRY(status);
    status = heddle_onnx_parse(path, content, size, graph);
    free(content);
    return status;
}

#endif
