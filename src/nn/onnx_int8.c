// The int8 network as an ONNX file: the groups of layers that heddle computes in bytes, with QuantizeLinear and
// DequantizeLinear where it rounds to bytes, and the scales that calibrating found. Weights are stored as bytes. The
// convolutions that heddle keeps in fp16 are in float32, with the weights that it rounds to fp16.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/float16.h"
#include "nn/infer.h"
#include "nn/network.h"
#include "nn/onnx.h"
#include "ops/rows_conv/rows_conv.h"

static const float pixel_unit = 1.0F / 255; // of an image's byte, which int8 has less 128
enum { PIXEL_ZERO = -128 };

// What a group leaves.
typedef struct left {
    int value;
    bool image;
} left;

typedef struct quantiser {
    heddle_onnx_exporter job;
    const heddle_rows *rows;
    left left[HEDDLE_ROWS_MOST_GROUPS_OF_LAYERS];
} quantiser;

// --- numbers
// ------------------------------------------------------------------------------------------------------------

static int vector(heddle_onnx *graph, const char *name, int type, int count, const void *data)
{
    return heddle_onnx_constant(graph, name, type, count > 0, (int64_t[]){count}, data);
}

static int named_vector(quantiser *to, const char *layer, const char *part, int type, int count, const void *data)
{
    char name[HEDDLE_ONNX_NAME];
    heddle_onnx_export_name(&to->job, layer, part, name);
    return vector(to->job.graph, name, type, count, data);
}

static int apply(quantiser *to, const char *layer, const char *part, const char *op, const int *inputs, int count)
{
    char name[HEDDLE_ONNX_NAME];
    heddle_onnx_export_name(&to->job, layer, part, name);
    return heddle_onnx_apply(to->job.graph, op, name, inputs, count, name);
}

// Rounds a value to bytes of this unit, and gives it back as numbers.
static int round_to_bytes(quantiser *to, const char *layer, int value, float unit, int8_t zero)
{
    float *scale = heddle_onnx_room(to->job.graph, sizeof *scale);
    int8_t *point = heddle_onnx_room(to->job.graph, sizeof *point);
    if (!scale || !point)
        return value;
    *scale = unit;
    *point = zero;
    const int of_scale = named_vector(to, layer, "scale", HEDDLE_ONNX_FLOAT, 0, scale);
    const int of_point = named_vector(to, layer, "zero", HEDDLE_ONNX_INT8, 0, point);
    const int bytes = apply(to, layer, "bytes", "QuantizeLinear", (int[]){value, of_scale, of_point}, 3);
    return apply(to, layer, "numbers", "DequantizeLinear", (int[]){bytes, of_scale, of_point}, 3);
}

// --- products
// -----------------------------------------------------------------------------------------------------------

static const float *values_of(const quantiser *to, const heddle_layer *layer, const char *name, size_t *elements)
{
    const int index = heddle_model_parameter_index(to->job.model, layer->name, name);
    *elements = 1;
    for (int i = 0; index >= 0 && i < to->job.model->parameters[index].rank; i++)
        *elements *= (size_t)to->job.model->parameters[index].dims[i];
    return index < 0 ? NULL : to->job.values[index];
}

// Each row of the weight as bytes, as heddle_rows_quantise makes them; `scales` gets what they are worth.
static void quantise_rows(const float *weight, size_t rows, size_t columns, int8_t *bytes, float *scales)
{
    for (size_t row = 0; row < rows; row++) {
        float most = 0;
        for (size_t i = row * columns; i < (row + 1) * columns; i++)
            most = fmaxf(most, fabsf(weight[i]));
        scales[row] = most > 0 ? most / HEDDLE_ROWS_MOST_BYTE : 1;
        for (size_t i = row * columns; i < (row + 1) * columns; i++)
            bytes[i] = (int8_t)rintf(weight[i] / scales[row]);
    }
}

static int stored_bytes(quantiser *to, const heddle_layer *layer, const char *name, int type, const void *data,
                        const float *scales, int rows)
{
    char called[HEDDLE_ONNX_NAME], part[32];
    const int index = heddle_model_parameter_index(to->job.model, layer->name, name);
    const heddle_parameter_spec *spec = &to->job.model->parameters[index];
    int64_t dims[HEDDLE_MAX_DIMS];
    for (int i = 0; i < spec->rank; i++)
        dims[i] = spec->dims[i];
    snprintf(called, sizeof called, "%s.%s", layer->name, name);
    snprintf(part, sizeof part, "%s_scale", name);
    const int bytes = heddle_onnx_constant(to->job.graph, called, type, spec->rank, dims, data);
    const int scale = named_vector(to, layer->name, part, HEDDLE_ONNX_FLOAT, rows, scales);
    const int numbers = apply(to, layer->name, name, "DequantizeLinear", (int[]){bytes, scale}, 2);
    heddle_onnx_set_int(to->job.graph, "axis", 0);
    return numbers;
}

// The bias in the units of the product's sums; as it is where they are too small for that.
static int stored_bias(quantiser *to, const heddle_layer *layer, float unit, const float *scales, int rows)
{
    size_t elements;
    const float *bias = values_of(to, layer, "bias", &elements);
    if (!bias)
        return HEDDLE_ONNX_NONE;
    int32_t *sums = heddle_onnx_room(to->job.graph, (size_t)rows * sizeof *sums);
    float *units = heddle_onnx_room(to->job.graph, (size_t)rows * sizeof *units);
    bool fits = sums && units;
    for (int i = 0; i < rows && fits; i++) {
        units[i] = unit * scales[i];
        fits = heddle_rows_bias_sum(bias[i], units[i], &sums[i]);
    }
    return fits ? stored_bytes(to, layer, "bias", HEDDLE_ONNX_INT32, sums, units, rows)
                : heddle_onnx_export_parameter(&to->job, layer, "bias");
}

// The weight of the first convolution, as heddle rounds it to fp16: in units of what it leaves.
static int stored_halves(quantiser *to, const heddle_rows_group *group)
{
    size_t elements;
    const heddle_layer *layer = group->product;
    const bool bounded = group->function == HEDDLE_ROWS_TANH || group->function == HEDDLE_ROWS_SIGMOID;
    const float *values = values_of(to, layer, "weight", &elements), unit = bounded ? 1 : group->unit;
    float *rounded = heddle_onnx_room(to->job.graph, elements * sizeof *rounded);
    if (!rounded || !values)
        return HEDDLE_ONNX_NONE;
    for (size_t i = 0; i < elements; i++)
        rounded[i] = (float)heddle_f16_decode(heddle_f16_encode((double)(values[i] / unit))) * unit;
    char name[HEDDLE_ONNX_NAME];
    snprintf(name, sizeof name, "%s.weight", layer->name);
    return heddle_onnx_constant(
        to->job.graph, name, HEDDLE_ONNX_FLOAT, 4,
        (int64_t[]){layer->channels, layer->in[0] / layer->groups, layer->kernel, layer->kernel}, rounded);
}

static int product(quantiser *to, const heddle_rows_group *group, int input, float unit)
{
    const heddle_layer *layer = group->product;
    const bool conv = layer->in_rank == 3;
    const int rows = conv ? layer->channels : layer->features;
    size_t elements;
    int weight, bias;
    if (group->in_stem || group->in_trunk) {
        weight = group->in_stem ? stored_halves(to, group) : heddle_onnx_export_parameter(&to->job, layer, "weight");
        bias = heddle_onnx_export_parameter(&to->job, layer, "bias");
    } else {
        const float *values = values_of(to, layer, "weight", &elements);
        int8_t *bytes = heddle_onnx_room(to->job.graph, elements);
        float *scales = heddle_onnx_room(to->job.graph, (size_t)rows * sizeof *scales);
        if (!bytes || !scales)
            return input;
        quantise_rows(values, (size_t)rows, elements / (size_t)rows, bytes, scales);
        weight = stored_bytes(to, layer, "weight", HEDDLE_ONNX_INT8, bytes, scales, rows);
        bias = stored_bias(to, layer, unit, scales, rows);
    }
    const int output =
        apply(to, layer->name, "", conv ? "Conv" : "Gemm", (int[]){input, weight, bias}, bias < 0 ? 2 : 3);
    if (conv)
        heddle_onnx_set_conv(&to->job, layer);
    else
        heddle_onnx_set_int(to->job.graph, "transB", 1);
    return output;
}

// --- groups
// -------------------------------------------------------------------------------------------------------------

static int function(quantiser *to, const heddle_rows_group *group, int value)
{
    static const char *const ops[] = {
        [HEDDLE_ROWS_RELU] = "Relu", [HEDDLE_ROWS_TANH] = "Tanh", [HEDDLE_ROWS_SIGMOID] = "Sigmoid"};
    return group->function == HEDDLE_ROWS_IDENTITY
               ? value
               : apply(to, group->product->name, "function", ops[group->function], &value, 1);
}

static int pool(quantiser *to, const heddle_rows_group *group, const char *name, int value)
{
    if (group->window == 1)
        return value;
    const int output = apply(to, name, "pool", group->average ? "AveragePool" : "MaxPool", &value, 1);
    heddle_onnx_set_windows(&to->job, group->window, group->window, 0);
    return output;
}

// Where heddle rounds is where it stores.
static int leave(quantiser *to, int index, int value)
{
    const heddle_rows_group *group = &to->rows->groups[index];
    const char *name = group->product->name;
    if (group->around >= 0) {
        value = round_to_bytes(to, name, value, group->product_unit, 0);
        value = apply(to, name, "sum", "Add", (int[]){value, to->left[group->around].value}, 2);
    }
    value = function(to, group, value);
    if (group->in_trunk || group->in_stem) {
        const bool last = group->in_stem || index + 1 == heddle_rows_trunk_groups(to->rows);
        value = pool(to, group, name, value);
        return last ? round_to_bytes(to, name, value, group->unit, 0) : value;
    }
    value = round_to_bytes(to, name, value, group->unit, 0);
    value = pool(to, group, name, value);
    return group->average && group->window > 1 ? round_to_bytes(to, name, value, group->unit, 0) : value;
}

static void add_group(quantiser *to, int index, int images)
{
    const heddle_rows_group *group = &to->rows->groups[index];
    const bool first = group->from < 0, last = index + 1 == to->rows->group_count;
    left from = first ? (left){images, true} : to->left[group->from];
    if (!group->product) {
        char name[32];
        snprintf(name, sizeof name, "pool%d", index);
        const int value = pool(to, group, name, from.value);
        to->left[index] = (left){group->average ? round_to_bytes(to, name, value, group->unit, 0) : value, from.image};
        return;
    }
    const bool bytes = !group->in_stem && !group->in_trunk;
    const char *name = group->product->name;
    if (from.image && group->product->in_rank == 1) {
        from.value = apply(to, name, "flatten", "Flatten", &from.value, 1);
        heddle_onnx_set_int(to->job.graph, "axis", 1);
    }
    if (first && bytes)
        from.value = round_to_bytes(to, name, from.value, pixel_unit, PIXEL_ZERO);
    const float unit = first ? pixel_unit : to->rows->groups[group->from].unit;
    const int value = product(to, group, from.value, unit);
    to->left[index] = (left){last ? value : leave(to, index, value), group->product->in_rank == 3};
}

static heddle_status build(quantiser *to, const heddle_network_bytes *bytes, const char *path)
{
    heddle_onnx *graph = to->job.graph;
    const int images = heddle_onnx_begin_graph(graph, to->job.model);
    for (int i = 0; i < to->rows->group_count; i++)
        add_group(to, i, images);
    heddle_onnx_end_graph(graph, to->job.model, to->left[to->rows->group_count - 1].value);
    if (bytes->checkpoint)
        HEDDLE_TRY(heddle_onnx_note_checkpoint(graph, bytes->checkpoint));
    heddle_onnx_note(graph, "quantised", "int8: weights per output channel, activations per tensor, symmetric");
    return heddle_onnx_write(path, graph);
}

heddle_status heddle_onnx_export_int8(heddle_network *network, const char *path)
{
    heddle_network_bytes bytes;
    if (!network || !path)
        return heddle_fail(HEDDLE_INVALID, "heddle_onnx_export_int8 needs a network and a file to write");
    HEDDLE_TRY(heddle_network_in_bytes(network, &bytes));
    const heddle_state *state = bytes.state;
    const heddle_model *model = state->model;
    quantiser *to = calloc(1, sizeof *to);
    float *bank = calloc(state->floats[HEDDLE_BANK_PARAMETERS] + 1, sizeof *bank);
    const float **values = calloc((size_t)model->parameter_count + 1, sizeof *values);
    heddle_onnx *graph = heddle_onnx_create(model->name);
    const bool enough = to && bank && values && graph;
    heddle_status status = HEDDLE_OUT_OF_MEMORY;
    if (enough)
        status = heddle_state_read(state, bytes.stream, HEDDLE_BANK_PARAMETERS, bank);
    else
        heddle_fail(status, "no memory to write %s", path);
    if (enough && status == HEDDLE_OK) {
        for (int i = 0; i < model->parameter_count; i++)
            values[i] = heddle_state_bank(state, i) == HEDDLE_BANK_PARAMETERS ? bank + state->offset[i] : NULL;
        to->job = (heddle_onnx_exporter){.graph = graph, .model = model, .values = values};
        to->rows = bytes.rows;
        status = build(to, &bytes, path);
    }
    heddle_onnx_close(graph);
    free(values);
    free(bank);
    free(to);
    return status;
}
