// ONNX files as checkpoints. A file that heddle wrote says which model it is; if its graph is still that model's graph,
// the checkpoint is the one it was made from. Any other file is read node by node (onnx_graph.c).

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "nn/checkpoint_about.h"
#include "nn/onnx.h"

void heddle_onnx_network_free(heddle_onnx_network *network)
{
    heddle_model_close(network->model);
    free(network->values);
    *network = (heddle_onnx_network){0};
}

// --- files of heddle
// ----------------------------------------------------------------------------------------------------

static bool same_attribute(const heddle_onnx_attribute *a, const heddle_onnx_attribute *b)
{
    return strcmp(a->name, b->name) == 0 && a->kind == b->kind && a->integer == b->integer && a->real == b->real &&
           a->count == b->count &&
           (a->count == 0 || memcmp(a->integers, b->integers, (size_t)a->count * sizeof *a->integers) == 0);
}

static bool same_values(const heddle_onnx *a, const int *of_a, const heddle_onnx *b, const int *of_b, int count)
{
    for (int i = 0; i < count; i++) {
        const heddle_onnx_value *left = of_a[i] < 0 ? NULL : &a->values[of_a[i]];
        const heddle_onnx_value *right = of_b[i] < 0 ? NULL : &b->values[of_b[i]];
        if (!left || !right || strcmp(left->name, right->name) != 0 || !left->constant != !right->constant)
            return false;
        // Numbers that are not parameters, such as those of gelu, mean something; others may be any.
        const heddle_onnx_tensor *x = left->constant, *y = right->constant;
        if (x && (x->type != y->type || x->rank != y->rank ||
                  memcmp(x->dims, y->dims, (size_t)x->rank * sizeof *x->dims) != 0 ||
                  (x->rank == 0 && memcmp(x->data, y->data, sizeof(float)) != 0)))
            return false;
    }
    return true;
}

static bool same_node(const heddle_onnx *a, const heddle_onnx_node *x, const heddle_onnx *b, const heddle_onnx_node *y)
{
    if (strcmp(x->op, y->op) != 0 || x->domain[0] || x->input_count != y->input_count ||
        x->output_count != y->output_count || x->attribute_count != y->attribute_count)
        return false;
    for (int i = 0; i < x->attribute_count; i++)
        if (!same_attribute(&x->attributes[i], &y->attributes[i]))
            return false;
    return same_values(a, x->inputs, b, y->inputs, x->input_count) &&
           same_values(a, x->outputs, b, y->outputs, x->output_count);
}

static bool same_port(const heddle_onnx *a, const heddle_onnx_port *x, const heddle_onnx *b, const heddle_onnx_port *y)
{
    return x->type == y->type && x->rank == y->rank &&
           memcmp(x->dims, y->dims, (size_t)x->rank * sizeof *x->dims) == 0 &&
           same_values(a, &x->value, b, &y->value, 1);
}

static bool same_graph(const heddle_onnx *a, const heddle_onnx *b)
{
    bool same = a->opset == b->opset && a->node_count == b->node_count && same_port(a, &a->input, b, &b->input) &&
                same_port(a, &a->output, b, &b->output);
    for (int i = 0; i < a->node_count && same; i++)
        same = same_node(a, &a->nodes[i], b, &b->nodes[i]);
    return same;
}

static size_t count_numbers(const heddle_parameter_spec *spec)
{
    size_t numbers = 1;
    for (int d = 0; d < spec->rank; d++)
        numbers *= (size_t)spec->dims[d];
    return numbers;
}

// The numbers of a parameter; NULL: the file has none of that name and size.
static const float *find_numbers(const heddle_onnx *graph, const heddle_parameter_spec *spec)
{
    for (int i = 0; i < graph->value_count; i++) {
        const heddle_onnx_tensor *tensor = graph->initialisers[i];
        if (tensor && strcmp(graph->values[i].name, spec->name) == 0)
            return tensor->type == HEDDLE_ONNX_FLOAT && tensor->elements == count_numbers(spec) ? tensor->data : NULL;
    }
    return NULL;
}

// The network that the metadata speak of; without one, *network stays empty.
static void find_own(const char *what, const heddle_onnx *graph, heddle_onnx_network *network)
{
    const char *json = heddle_onnx_metadata_of(graph, HEDDLE_CHECKPOINT_MODEL);
    const char *training = heddle_onnx_metadata_of(graph, HEDDLE_CHECKPOINT_TRAINING);
    heddle_onnx *own = NULL;
    *network = (heddle_onnx_network){0};
    if (!json || !training || heddle_model_parse(what, json, NULL, &network->model) != HEDDLE_OK)
        return;
    const heddle_model *model = network->model;
    network->values = calloc((size_t)model->parameter_count + 1, sizeof *network->values);
    network->training = training;
    bool same = network->values && heddle_onnx_of_model(model, NULL, &own) == HEDDLE_OK && same_graph(graph, own);
    for (int i = 0; i < model->parameter_count && same; i++) {
        network->values[i] = find_numbers(graph, &model->parameters[i]);
        same = network->values[i] != NULL;
    }
    heddle_onnx_close(own);
    if (!same)
        heddle_onnx_network_free(network);
}

// --- any file
// -----------------------------------------------------------------------------------------------------------

static heddle_status check_finite(const char *what, const heddle_onnx_network *network)
{
    for (int i = 0; i < network->model->parameter_count; i++) {
        const heddle_parameter_spec *spec = &network->model->parameters[i];
        const size_t elements = count_numbers(spec);
        size_t bad = 0;
        for (size_t j = 0; j < elements; j++)
            bad += !(fabsf(network->values[i][j]) <= FLT_MAX);
        if (bad)
            return heddle_fail(HEDDLE_CORRUPT, "%s: %zu numbers of '%s' are not finite", what, bad, spec->name);
    }
    return HEDDLE_OK;
}

heddle_status heddle_onnx_to_network(const char *what, heddle_onnx *graph, const heddle_input_shape *input,
                                     heddle_onnx_network *network)
{
    find_own(what, graph, network);
    if (!network->model)
        HEDDLE_TRY(heddle_onnx_read_layers(what, graph, input, network));
    const heddle_status status = check_finite(what, network);
    if (status != HEDDLE_OK)
        heddle_onnx_network_free(network);
    return status;
}

// --- checkpoints
// --------------------------------------------------------------------------------------------------------

static bool are_classes(const cJSON *names, int classes)
{
    const cJSON *name;
    bool fits = cJSON_IsArray(names) && cJSON_GetArraySize(names) <= classes;
    cJSON_ArrayForEach(name, names) fits &= cJSON_IsString(name);
    return fits;
}

// The names of classes, if the file has a list of them.
static cJSON *read_classes(const heddle_onnx *graph, int classes)
{
    const char *text = heddle_onnx_metadata_of(graph, "classes");
    cJSON *names = text ? cJSON_Parse(text) : NULL;
    if (are_classes(names, classes))
        return names;
    cJSON_Delete(names);
    return NULL;
}

// Whether a checkpoint can say this of its training.
static bool is_training(const char *what, const char *text, int classes)
{
    heddle_checkpoint_about about;
    cJSON *json = NULL;
    if (!text || heddle_about_from_json(what, text, &about) != HEDDLE_OK ||
        heddle_json_parse(what, text, strlen(text), &json) != HEDDLE_OK)
        return false;
    const cJSON *names = cJSON_GetObjectItemCaseSensitive(json, "classes");
    const bool fits = !names || are_classes(names, classes);
    cJSON_Delete(json);
    return fits;
}

// What a checkpoint says of a network that heddle has not trained: nothing but its classes.
static char *make_training(const heddle_onnx *graph, int classes)
{
    heddle_checkpoint_about about = {.options = heddle_train_defaults(), .position = heddle_position_start()};
    about.traits.border = 0.5; // any picture is used as it is
    cJSON *names = read_classes(graph, classes), *name;
    const char **list = names ? calloc((size_t)classes + 1, sizeof *list) : NULL;
    if (list)
        cJSON_ArrayForEach(name, names) list[about.classes++] = name->valuestring;
    about.class_names = list;
    char *text = heddle_about_to_json(&about);
    free(list);
    cJSON_Delete(names);
    return text;
}

// The same training with other names of the classes; NULL: no memory.
static char *name_classes(const char *what, const char *training, const heddle_onnx_import_options *options)
{
    heddle_checkpoint_about about;
    if (heddle_about_from_json(what, training, &about) != HEDDLE_OK)
        return NULL;
    about.class_names = options->class_names;
    about.classes = options->classes;
    return heddle_about_to_json(&about);
}

static heddle_status create_folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash && slash > path ? strndup(path, (size_t)(slash - path)) : NULL;
    const heddle_status status = folder ? heddle_folder_create(folder) : HEDDLE_OK;
    free(folder);
    return status;
}

static heddle_status write_checkpoint(const heddle_onnx *graph, const heddle_onnx_network *network,
                                      const heddle_onnx_import_options *options, const char *checkpoint)
{
    const bool trained = is_training(checkpoint, network->training, network->model->input.classes);
    char *made = trained ? NULL : make_training(graph, network->model->input.classes);
    const char *training = trained ? network->training : made;
    char *named = training && options->class_names ? name_classes(checkpoint, training, options) : NULL;
    heddle_status status = HEDDLE_OUT_OF_MEMORY;
    if (!training || (options->class_names && !named))
        heddle_fail(status, "no memory to write %s", checkpoint);
    else
        status = create_folder_of(checkpoint);
    if (status == HEDDLE_OK)
        status = heddle_checkpoint_write_values(checkpoint, network->model, network->values, named ? named : training);
    cJSON_free(named);
    cJSON_free(made);
    return status;
}

// What the caller says against what the network takes; heddle's own files name their sizes in their metadata.
static heddle_status check_options(const char *what, const heddle_model *model,
                                   const heddle_onnx_import_options *options)
{
    const heddle_input_shape *given = options->input, *own = &model->input;
    if (given && (given->channels != own->channels || given->height != own->height || given->width != own->width))
        return heddle_fail(HEDDLE_INVALID, "%s: its images are %d×%d×%d, not %d×%d×%d", what, own->channels,
                           own->height, own->width, given->channels, given->height, given->width);
    if (options->class_names && options->classes != own->classes)
        return heddle_fail(HEDDLE_INVALID, "%s: the network has %d classes, but --classes names %d", what, own->classes,
                           options->classes);
    return HEDDLE_OK;
}

heddle_status heddle_onnx_import(const char *path, const heddle_input_shape *input, const char *checkpoint)
{
    return heddle_onnx_import_with(path, &(heddle_onnx_import_options){.input = input}, checkpoint);
}

heddle_status heddle_onnx_import_with(const char *path, const heddle_onnx_import_options *options,
                                      const char *checkpoint)
{
    if (!path || !checkpoint)
        return heddle_fail(HEDDLE_INVALID, "heddle_onnx_import needs an ONNX file and a checkpoint to write");
    heddle_onnx *graph = NULL;
    heddle_onnx_network network = {0};
    HEDDLE_TRY(heddle_onnx_open(path, &graph));
    heddle_status status = heddle_onnx_to_network(path, graph, options->input, &network);
    if (status == HEDDLE_OK)
        status = check_options(path, network.model, options);
    if (status == HEDDLE_OK)
        status = write_checkpoint(graph, &network, options, checkpoint);
    heddle_onnx_network_free(&network);
    heddle_onnx_close(graph);
    return status;
}
