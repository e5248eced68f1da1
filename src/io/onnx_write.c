// Writes a graph as an ONNX file: the messages of io/onnx.proto over the graph's own memory, packed by protobuf-c.

#include "io/onnx.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

#if !HEDDLE_HAVE_PROTOBUF

heddle_status heddle_onnx_pack(const char *what, const heddle_onnx *graph, uint8_t **content, size_t *size)
{
    (void)what, (void)graph, (void)size;
    *content = NULL;
    return heddle_fail(HEDDLE_MISSING, "this build cannot write ONNX files: install protobuf-c-compiler and "
                                       "libprotobuf-c-dev, then rebuild heddle");
}

#else

#include "io/onnx.pb-c.h"

enum { IR_VERSION = 8 }; // of opset 17

// Messages are made here and freed together; NULL: out of memory.
typedef struct packing {
    heddle_arena *arena;
    const heddle_onnx *graph;
} packing;

static void *list_of(const packing *job, int count)
{
    return heddle_arena_alloc(job->arena, ((size_t)count + 1) * sizeof(void *));
}

static size_t element_size(int type)
{
    return type == HEDDLE_ONNX_INT64 ? 8 : type == HEDDLE_ONNX_INT8 || type == HEDDLE_ONNX_BOOL ? 1 : 4;
}

static Heddle__Wire__Tensor *make_tensor(const packing *job, const heddle_onnx_tensor *from, const char *name)
{
    Heddle__Wire__Tensor *made = heddle_arena_alloc(job->arena, sizeof *made);
    if (!made)
        return NULL;
    heddle__wire__tensor__init(made);
    made->n_dims = (size_t)from->rank;
    made->dims = (int64_t *)from->dims;
    made->has_data_type = true;
    made->data_type = from->type;
    made->name = (char *)name;
    made->has_raw_data = true;
    made->raw_data = (ProtobufCBinaryData){from->elements * element_size(from->type), (uint8_t *)from->data};
    return made;
}

static Heddle__Wire__Attribute *make_attribute(const packing *job, const heddle_onnx_attribute *from)
{
    Heddle__Wire__Attribute *made = heddle_arena_alloc(job->arena, sizeof *made);
    if (!made)
        return NULL;
    heddle__wire__attribute__init(made);
    made->name = (char *)from->name;
    made->has_type = true;
    made->type = (int32_t)from->kind;
    made->has_f = from->kind == HEDDLE_ONNX_IS_FLOAT;
    made->f = from->real;
    made->has_i = from->kind == HEDDLE_ONNX_IS_INT;
    made->i = from->integer;
    made->n_ints = from->kind == HEDDLE_ONNX_IS_INTS ? (size_t)from->count : 0;
    made->ints = (int64_t *)from->integers;
    return made;
}

static bool name_values(const packing *job, const int *values, int count, size_t *named, char ***names)
{
    *named = (size_t)count;
    *names = list_of(job, count);
    for (int i = 0; *names && i < count; i++)
        (*names)[i] = values[i] < 0 ? (char *)"" : (char *)job->graph->values[values[i]].name;
    return *names != NULL;
}

static Heddle__Wire__Node *make_node(const packing *job, const heddle_onnx_node *from)
{
    Heddle__Wire__Node *made = heddle_arena_alloc(job->arena, sizeof *made);
    if (!made)
        return NULL;
    heddle__wire__node__init(made);
    made->op_type = (char *)from->op;
    made->name = (char *)from->name;
    made->attribute = list_of(job, from->attribute_count);
    if (!made->attribute || !name_values(job, from->inputs, from->input_count, &made->n_input, &made->input) ||
        !name_values(job, from->outputs, from->output_count, &made->n_output, &made->output))
        return NULL;
    for (int i = 0; i < from->attribute_count; i++)
        if (!(made->attribute[made->n_attribute++] = make_attribute(job, &from->attributes[i])))
            return NULL;
    return made;
}

// A size that is not fixed is called "batch".
static Heddle__Wire__ValueInfo *make_port(const packing *job, const heddle_onnx_port *from)
{
    struct {
        Heddle__Wire__ValueInfo info;
        Heddle__Wire__Type type;
        Heddle__Wire__TensorType tensor;
        Heddle__Wire__Shape shape;
        Heddle__Wire__Dimension dims[HEDDLE_ONNX_RANK], *list[HEDDLE_ONNX_RANK];
    } *made = heddle_arena_alloc(job->arena, sizeof *made);
    if (!made)
        return NULL;
    heddle__wire__value_info__init(&made->info);
    heddle__wire__type__init(&made->type);
    heddle__wire__tensor_type__init(&made->tensor);
    heddle__wire__shape__init(&made->shape);
    made->info.name = (char *)job->graph->values[from->value].name;
    made->info.type = &made->type;
    made->type.tensor_type = &made->tensor;
    made->tensor.has_elem_type = true;
    made->tensor.elem_type = from->type;
    made->tensor.shape = &made->shape;
    made->shape.n_dim = (size_t)from->rank;
    made->shape.dim = made->list;
    for (int i = 0; i < from->rank; i++) {
        heddle__wire__dimension__init(&made->dims[i]);
        made->list[i] = &made->dims[i];
        made->dims[i].has_dim_value = from->dims[i] >= 0;
        made->dims[i].dim_value = from->dims[i];
        made->dims[i].dim_param = from->dims[i] >= 0 ? NULL : (char *)"batch";
    }
    return &made->info;
}

static Heddle__Wire__Graph *make_graph(const packing *job)
{
    const heddle_onnx *from = job->graph;
    Heddle__Wire__Graph *made = heddle_arena_alloc(job->arena, sizeof *made);
    if (!made)
        return NULL;
    heddle__wire__graph__init(made);
    made->name = (char *)from->name;
    made->node = list_of(job, from->node_count);
    made->initializer = list_of(job, from->value_count);
    made->input = list_of(job, 1);
    made->output = list_of(job, 1);
    if (!made->node || !made->initializer || !made->input || !made->output)
        return NULL;
    for (int i = 0; i < from->node_count; i++)
        if (!(made->node[made->n_node++] = make_node(job, &from->nodes[i])))
            return NULL;
    for (int i = 0; i < from->value_count; i++)
        if (from->initialisers[i] &&
            !(made->initializer[made->n_initializer++] = make_tensor(job, from->initialisers[i], from->values[i].name)))
            return NULL;
    made->input[made->n_input++] = make_port(job, &from->input);
    made->output[made->n_output++] = make_port(job, &from->output);
    return made->input[0] && made->output[0] ? made : NULL;
}

static Heddle__Wire__Model *make_model(const packing *job)
{
    struct {
        Heddle__Wire__Model model;
        Heddle__Wire__OperatorSet set, *sets;
    } *made = heddle_arena_alloc(job->arena, sizeof *made);
    if (!made)
        return NULL;
    heddle__wire__model__init(&made->model);
    heddle__wire__operator_set__init(&made->set);
    made->model.has_ir_version = true;
    made->model.ir_version = IR_VERSION;
    made->model.producer_name = (char *)"heddle";
    made->model.producer_version = (char *)HEDDLE_VERSION;
    made->sets = &made->set;
    made->set.domain = (char *)"";
    made->set.has_version = true;
    made->set.version = job->graph->opset;
    made->model.n_opset_import = 1;
    made->model.opset_import = &made->sets;
    made->model.graph = make_graph(job);
    made->model.metadata_props = list_of(job, job->graph->metadata_count);
    for (int i = 0; made->model.metadata_props && i < job->graph->metadata_count; i++) {
        Heddle__Wire__Entry *entry = heddle_arena_alloc(job->arena, sizeof *entry);
        if (!entry)
            return NULL;
        heddle__wire__entry__init(entry);
        entry->key = (char *)job->graph->metadata[i].key;
        entry->value = (char *)job->graph->metadata[i].value;
        made->model.metadata_props[made->model.n_metadata_props++] = entry;
    }
    return made->model.graph && made->model.metadata_props ? &made->model : NULL;
}

heddle_status heddle_onnx_pack(const char *what, const heddle_onnx *graph, uint8_t **content, size_t *size)
{
    const packing job = {.arena = heddle_arena_create(), .graph = graph};
    const Heddle__Wire__Model *model = job.arena && !graph->exhausted ? make_model(&job) : NULL;
    heddle_status status = HEDDLE_OK;
    *content = NULL;
    *size = model ? heddle__wire__model__get_packed_size(model) : 0;
    if (*size > INT_MAX)
        status = heddle_fail(HEDDLE_UNSUPPORTED, "%s: the model needs %zu bytes, and an ONNX file has at most 2 GiB",
                             what, *size);
    else if (!model || !(*content = malloc(*size)))
        status = heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to write %s", what);
    else
        heddle__wire__model__pack(model, *content);
    heddle_arena_destroy(job.arena);
    return status;
}

#endif

heddle_status heddle_onnx_write(const char *path, const heddle_onnx *graph)
{
    uint8_t *content;
    size_t size = 0;
    HEDDLE_TRY(heddle_onnx_pack(path, graph, &content, &size));
    const heddle_slice slice = {content, size};
    const heddle_status status = heddle_file_write_atomic(path, &slice, 1);
    free(content);
    return status;
}
