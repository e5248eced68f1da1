// Finds layers in an ONNX graph. Every value has a dominator: the nearest value that all ways from the images to it go
// through. From the logits back, dominators are the main way; where two ways meet in an Add, what lies between the Add
// and its dominator is a residual, and both ways in it are found in the same manner.

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "nn/onnx_reader.h"

enum { NAME_SIZE = 64 };

// --- dominators
// ---------------------------------------------------------------------------------------------------------

// The nearest value that dominates both.
static int common(const heddle_onnx_reader *reader, int a, int b)
{
    while (a != b)
        if (reader->depth[a] > reader->depth[b])
            a = reader->dominator[a];
        else
            b = reader->dominator[b];
    return a;
}

// What a node computes from a shape alone does not depend on the images.
static bool reads_shape_alone(const heddle_onnx_node *node)
{
    return heddle_onnx_is(node, "Shape") || heddle_onnx_is(node, "Size");
}

static void find_dominators(heddle_onnx_reader *reader)
{
    const heddle_onnx *graph = reader->graph;
    for (int i = 0; i < graph->value_count; i++)
        reader->depth[i] = reader->dominator[i] = HEDDLE_ONNX_NONE;
    reader->depth[graph->input.value] = 0;
    for (int i = 0; i < graph->node_count; i++) {
        const heddle_onnx_node *node = &graph->nodes[i];
        int dominator = HEDDLE_ONNX_NONE;
        for (int j = 0; j < node->input_count && !reads_shape_alone(node); j++)
            if (heddle_onnx_is_image(reader, node->inputs[j]))
                dominator = dominator < 0 ? node->inputs[j] : common(reader, dominator, node->inputs[j]);
        for (int j = 0; j < node->output_count && dominator >= 0; j++)
            if (node->outputs[j] >= 0) {
                reader->dominator[node->outputs[j]] = dominator;
                reader->depth[node->outputs[j]] = reader->depth[dominator] + 1;
            }
    }
}

// --- ways
// ---------------------------------------------------------------------------------------------------------------

static heddle_status no_memory(const heddle_onnx_reader *reader)
{
    return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the layers of %s", reader->what);
}

static heddle_status walk(heddle_onnx_reader *reader, int from, int to, heddle_onnx_layers *layers);

static bool is_join(const heddle_onnx_reader *reader, const heddle_onnx_node *node)
{
    return (heddle_onnx_is(node, "Add") || heddle_onnx_is(node, "Sum")) && node->input_count == 2 &&
           heddle_onnx_is_image(reader, node->inputs[0]) && heddle_onnx_is_image(reader, node->inputs[1]);
}

// Parameters were found in the order of the graph's ways; those of the projection stand behind those of the layers.
static heddle_status swap_values(heddle_onnx_reader *reader, int first, int second)
{
    const int count = reader->value_count - first, head = second - first;
    const float **values = malloc(((size_t)count + 1) * sizeof *values);
    size_t *sizes = malloc(((size_t)count + 1) * sizeof *sizes);
    for (int i = 0; values && sizes && i < count; i++) {
        const int to = i < head ? count - head + i : i - head;
        values[to] = reader->values[first + i];
        sizes[to] = reader->sizes[first + i];
    }
    const bool enough = values && sizes;
    if (enough && count > 0) {
        memcpy(reader->values + first, values, (size_t)count * sizeof *values);
        memcpy(reader->sizes + first, sizes, (size_t)count * sizeof *sizes);
    }
    free(values);
    free(sizes);
    return enough ? HEDDLE_OK : no_memory(reader);
}

// Both ways of a residual, the longer one first.
static heddle_status walk_ways(heddle_onnx_reader *reader, const heddle_onnx_node *node, int from,
                               heddle_onnx_layers ways[2])
{
    const int first = reader->value_count;
    HEDDLE_TRY(walk(reader, from, node->inputs[0], &ways[0]));
    const int second = reader->value_count;
    HEDDLE_TRY(walk(reader, from, node->inputs[1], &ways[1]));
    if (cJSON_GetArraySize(ways[1].json) <= cJSON_GetArraySize(ways[0].json))
        return HEDDLE_OK;
    const heddle_onnx_layers longer = ways[1];
    ways[1] = ways[0];
    ways[0] = longer;
    return swap_values(reader, first, second);
}

static bool same_sample(const heddle_onnx_sample *a, const heddle_onnx_sample *b)
{
    bool same = a->rank == b->rank && a->keeps == b->keeps;
    for (int i = 0; i < a->rank && same; i++)
        same = a->dims[i] == b->dims[i];
    return same;
}

static heddle_status add_residual(heddle_onnx_reader *reader, const heddle_onnx_node *node, int from,
                                  heddle_onnx_layers *layers)
{
    heddle_onnx_layers ways[2] = {{.json = cJSON_CreateArray(), .sample = layers->sample},
                                  {.json = cJSON_CreateArray(), .sample = layers->sample}};
    cJSON *residual = cJSON_CreateObject();
    heddle_status status =
        ways[0].json && ways[1].json && residual ? walk_ways(reader, node, from, ways) : no_memory(reader);
    if (status == HEDDLE_OK && cJSON_GetArraySize(ways[0].json) == 0)
        status = heddle_onnx_refuse(reader, node, HEDDLE_UNSUPPORTED, "a value added to itself is not a layer");
    if (status == HEDDLE_OK && !same_sample(&ways[0].sample, &ways[1].sample))
        status = heddle_onnx_refuse(reader, node, HEDDLE_UNSUPPORTED, "a sum of values of two shapes");
    if (status == HEDDLE_OK && cJSON_GetArraySize(ways[1].json) == 0) {
        cJSON_Delete(ways[1].json);
        ways[1].json = NULL;
    }
    if (status != HEDDLE_OK || !cJSON_AddStringToObject(residual, "type", "residual")) {
        cJSON_Delete(ways[0].json);
        cJSON_Delete(ways[1].json);
        cJSON_Delete(residual);
        return status == HEDDLE_OK ? no_memory(reader) : status;
    }
    cJSON_AddItemToObject(residual, "layers", ways[0].json);
    if (ways[1].json)
        cJSON_AddItemToObject(residual, "projection", ways[1].json);
    cJSON_AddItemToArray(layers->json, residual);
    layers->sample = ways[0].sample;
    return HEDDLE_OK;
}

static heddle_status follow(heddle_onnx_reader *reader, const heddle_onnx_way *way, heddle_onnx_layers *layers)
{
    for (int done = 0; done < way->count; done += layers->used) {
        const int value = way->values[done];
        const heddle_onnx_node *node = heddle_onnx_node_of(reader, value);
        if (is_join(reader, node)) {
            HEDDLE_TRY(add_residual(reader, node, reader->dominator[value], layers));
            layers->used = 1;
        } else {
            const heddle_onnx_way rest = {way->values + done, way->count - done};
            HEDDLE_TRY(heddle_onnx_step(reader, &rest, layers));
        }
        reader->samples[way->values[done + layers->used - 1]] = layers->sample;
    }
    return HEDDLE_OK;
}

// The layers from one value to another that it dominates.
static heddle_status walk(heddle_onnx_reader *reader, int from, int to, heddle_onnx_layers *layers)
{
    const int count = reader->depth[to] - reader->depth[from];
    int *values = malloc(((size_t)count + 1) * sizeof *values);
    if (!values)
        return no_memory(reader);
    for (int i = count - 1; i >= 0; i--, to = reader->dominator[to])
        values[i] = to;
    heddle_status status = HEDDLE_OK;
    if (++reader->nested > HEDDLE_LAYER_DEPTH)
        status = heddle_fail(HEDDLE_UNSUPPORTED, "%s: residuals are nested more than %d deep", reader->what,
                             HEDDLE_LAYER_DEPTH - 1);
    if (status == HEDDLE_OK)
        status = follow(reader, &(heddle_onnx_way){values, count}, layers);
    reader->nested--;
    free(values);
    return status;
}

// --- the ends
// -----------------------------------------------------------------------------------------------------------

// Images as the file has them, or as the caller says where it leaves that open.
static heddle_status read_images(const heddle_onnx_reader *reader, const heddle_input_shape *given,
                                 heddle_input_shape *input)
{
    const heddle_onnx_port *port = &reader->graph->input;
    const char *name = reader->graph->values[port->value].name;
    if (port->type != HEDDLE_ONNX_FLOAT)
        return heddle_fail(HEDDLE_UNSUPPORTED, "%s: its input '%.60s' is not float32; export the model in float32",
                           reader->what, name);
    if (port->rank != 4 && port->rank != 2)
        return heddle_fail(HEDDLE_UNSUPPORTED,
                           "%s: its input '%.60s' has %d dimensions; heddle's is (batch, channels, height, width)",
                           reader->what, name, port->rank);
    int64_t dims[] = {port->rank == 4 ? port->dims[1] : HEDDLE_ONNX_ANY,
                      port->rank == 4 ? port->dims[2] : HEDDLE_ONNX_ANY,
                      port->rank == 4 ? port->dims[3] : HEDDLE_ONNX_ANY};
    const int told[] = {given ? given->channels : 0, given ? given->height : 0, given ? given->width : 0};
    for (int i = 0; i < 3; i++) {
        if (given && dims[i] < 0)
            dims[i] = told[i];
        if (given && dims[i] != told[i])
            return heddle_fail(HEDDLE_INVALID, "%s: its images are %lld×%lld×%lld, not %d×%d×%d", reader->what,
                               (long long)port->dims[1], (long long)port->dims[2], (long long)port->dims[3], told[0],
                               told[1], told[2]);
        if (dims[i] < 0)
            return heddle_fail(HEDDLE_INVALID, "%s: it does not say how large its images are; say so with %s",
                               reader->what, "--input CHANNELSxHEIGHTxWIDTH");
        if (dims[i] < 1 || dims[i] > INT_MAX)
            return heddle_fail(HEDDLE_CORRUPT, "%s: damaged: an image of size %lld", reader->what, (long long)dims[i]);
    }
    *input = (heddle_input_shape){.channels = (int)dims[0], .height = (int)dims[1], .width = (int)dims[2]};
    const double features = (double)dims[0] * (double)dims[1] * (double)dims[2];
    if (features > INT_MAX || (port->rank == 2 && port->dims[1] >= 0 && (double)port->dims[1] != features))
        return heddle_fail(HEDDLE_INVALID, "%s: its input is %lld numbers, not those of %d×%d×%d", reader->what,
                           (long long)port->dims[1], input->channels, input->height, input->width);
    return HEDDLE_OK;
}

// The model's name: the file's, without folder and ending.
static void name_model(const char *what, char name[NAME_SIZE])
{
    const char *slash = strrchr(what, '/');
    snprintf(name, NAME_SIZE, "%s", slash ? slash + 1 : what);
    char *end = strrchr(name, '.');
    if (end && end != name)
        *end = '\0';
    heddle_text_one_line(name);
    if (!name[0])
        snprintf(name, NAME_SIZE, "model");
}

static heddle_status parse_model(const heddle_onnx_reader *reader, const heddle_input_shape *input, cJSON *layers,
                                 heddle_model **model)
{
    char name[NAME_SIZE];
    name_model(reader->what, name);
    cJSON *json = cJSON_CreateObject();
    char *text = NULL;
    if (json && cJSON_AddStringToObject(json, "name", name)) {
        cJSON_AddItemReferenceToObject(json, "layers", layers);
        text = cJSON_PrintUnformatted(json);
    }
    const heddle_status status = text ? heddle_model_parse(reader->what, text, input, model) : no_memory(reader);
    cJSON_free(text);
    cJSON_Delete(json);
    return status == HEDDLE_INVALID || status == HEDDLE_CORRUPT ? HEDDLE_UNSUPPORTED : status;
}

static heddle_status check_values(const heddle_onnx_reader *reader, const heddle_model *model)
{
    bool fits = model->parameter_count == reader->value_count;
    for (int i = 0; i < model->parameter_count && fits; i++) {
        size_t elements = 1;
        for (int d = 0; d < model->parameters[i].rank; d++)
            elements *= (size_t)model->parameters[i].dims[d];
        fits = elements == reader->sizes[i];
    }
    return fits ? HEDDLE_OK
                : heddle_fail(HEDDLE_INTERNAL, "%s: the parameters of its layers do not fit them", reader->what);
}

static heddle_status read_all(heddle_onnx_reader *reader, const heddle_input_shape *given, heddle_onnx_layers *layers,
                              heddle_model **model)
{
    const heddle_onnx *graph = reader->graph;
    heddle_input_shape input = {0};
    HEDDLE_TRY(read_images(reader, given, &input));
    HEDDLE_TRY(heddle_onnx_fold(reader));
    find_dominators(reader);
    if (!heddle_onnx_is_image(reader, graph->output.value))
        return heddle_fail(HEDDLE_UNSUPPORTED, "%s: its output does not depend on its input", reader->what);
    layers->sample = (heddle_onnx_sample){.rank = 3, .dims = {input.channels, input.height, input.width}};
    if (graph->input.rank == 2) {
        cJSON *flatten = cJSON_CreateObject();
        if (!flatten || !cJSON_AddStringToObject(flatten, "type", "flatten"))
            return no_memory(reader);
        cJSON_AddItemToArray(layers->json, flatten);
        layers->sample = (heddle_onnx_sample){.rank = 1, .dims = {input.channels * input.height * input.width}};
    }
    reader->samples[graph->input.value] = layers->sample;
    HEDDLE_TRY(walk(reader, graph->input.value, graph->output.value, layers));
    if (reader->shared)
        return heddle_fail(HEDDLE_UNSUPPORTED,
                           "%s: the output of a layer is used on several ways, which is no residual", reader->what);
    if (layers->sample.rank != 1 || layers->sample.keeps)
        return heddle_fail(HEDDLE_UNSUPPORTED, "%s: its output is not one row of classes per image", reader->what);
    input.classes = layers->sample.dims[0];
    HEDDLE_TRY(parse_model(reader, &input, layers->json, model));
    return check_values(reader, *model);
}

heddle_status heddle_onnx_read_layers(const char *what, heddle_onnx *graph, const heddle_input_shape *input,
                                      heddle_onnx_network *network)
{
    const size_t values = (size_t)graph->value_count + 1, parameters = 4 * (size_t)graph->node_count + 1;
    heddle_onnx_reader reader = {.what = what, .graph = graph, .most_values = (int)parameters};
    heddle_onnx_layers layers = {.json = cJSON_CreateArray()};
    reader.dominator = malloc(values * sizeof *reader.dominator);
    reader.depth = malloc(values * sizeof *reader.depth);
    reader.samples = calloc(values, sizeof *reader.samples);
    reader.values = calloc(parameters, sizeof *reader.values);
    reader.sizes = calloc(parameters, sizeof *reader.sizes);
    for (int i = 0; i < graph->value_count; i++)
        reader.may_copy += graph->initialisers[i] ? 2 * graph->initialisers[i]->elements : 0;
    *network = (heddle_onnx_network){0};
    heddle_status status =
        layers.json && reader.dominator && reader.depth && reader.samples && reader.values && reader.sizes
            ? read_all(&reader, input, &layers, &network->model)
            : no_memory(&reader);
    network->values = reader.values;
    cJSON_Delete(layers.json);
    free(reader.dominator);
    free(reader.depth);
    free(reader.samples);
    free(reader.sizes);
    if (status != HEDDLE_OK)
        heddle_onnx_network_free(network);
    return status;
}
