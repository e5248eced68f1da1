// What each type of layer is in ONNX: one table entry per type, the twin of its entry in layers/.

#include "nn/onnx.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// --- nodes and parameters
// -----------------------------------------------------------------------------------------------

static bool is_taken(const heddle_onnx *graph, const char *name)
{
    for (int i = 0; i < graph->value_count; i++)
        if (strcmp(graph->values[i].name, name) == 0)
            return true;
    return false;
}

// No layer has a '/' in its name, so that these are never the names of parameters.
const char *heddle_onnx_export_name(const heddle_onnx_exporter *job, const char *layer, const char *part,
                                    char name[HEDDLE_ONNX_NAME])
{
    int number = 1;
    snprintf(name, HEDDLE_ONNX_NAME, "/%s%s%s", layer, part[0] ? "/" : "", part);
    while (is_taken(job->graph, name) && number < INT16_MAX) // "a.b" may be a layer and one inside another
        snprintf(name, HEDDLE_ONNX_NAME, "/%s/%s%d", layer, part, ++number);
    return name;
}

int heddle_onnx_export_node(heddle_onnx_exporter *job, const heddle_layer *layer, const char *part, const char *op,
                            const int *inputs, int count)
{
    char name[HEDDLE_ONNX_NAME];
    heddle_onnx_export_name(job, layer->name, part, name);
    return heddle_onnx_apply(job->graph, op, name, inputs, count, name);
}

int heddle_onnx_export_parameter(heddle_onnx_exporter *job, const heddle_layer *layer, const char *name)
{
    static const float nothing[1];
    const int index = heddle_model_parameter_index(job->model, layer->name, name);
    if (index < 0)
        return HEDDLE_ONNX_NONE;
    const heddle_parameter_spec *spec = &job->model->parameters[index];
    int64_t dims[HEDDLE_MAX_DIMS];
    for (int i = 0; i < spec->rank; i++)
        dims[i] = spec->dims[i];
    return heddle_onnx_constant(job->graph, spec->name, HEDDLE_ONNX_FLOAT, spec->rank, dims,
                                job->values ? job->values[index] : nothing);
}

// A number as a constant of the layer.
static int constant(heddle_onnx_exporter *job, const heddle_layer *layer, const char *part, float number)
{
    char name[HEDDLE_ONNX_NAME];
    float *data = heddle_onnx_room(job->graph, sizeof *data);
    if (data)
        *data = number;
    heddle_onnx_export_name(job, layer->name, part, name);
    return heddle_onnx_constant(job->graph, name, HEDDLE_ONNX_FLOAT, 0, NULL, data);
}

// --- layers
// -------------------------------------------------------------------------------------------------------------

// The same for height and width, as heddle has it.
static void set_pair(heddle_onnx_exporter *job, const char *name, int value)
{
    heddle_onnx_set_ints(job->graph, name, (int64_t[]){value, value}, 2);
}

void heddle_onnx_set_windows(heddle_onnx_exporter *job, int window, int stride, int padding)
{
    set_pair(job, "kernel_shape", window);
    heddle_onnx_set_ints(job->graph, "pads", (int64_t[]){padding, padding, padding, padding}, 4);
    set_pair(job, "strides", stride);
}

void heddle_onnx_set_conv(heddle_onnx_exporter *job, const heddle_layer *layer)
{
    set_pair(job, "dilations", layer->dilation);
    heddle_onnx_set_int(job->graph, "group", layer->groups);
    heddle_onnx_set_windows(job, layer->kernel, layer->stride, layer->padding);
}

static int weight_and_bias(heddle_onnx_exporter *job, const heddle_layer *layer, int input, const char *op)
{
    const int inputs[] = {input, heddle_onnx_export_parameter(job, layer, "weight"),
                          heddle_onnx_export_parameter(job, layer, "bias")};
    return heddle_onnx_export_node(job, layer, "", op, inputs, layer->bias ? 3 : 2);
}

static int conv2d(heddle_onnx_exporter *job, const heddle_layer *layer, int input)
{
    const int output = weight_and_bias(job, layer, input, "Conv");
    heddle_onnx_set_conv(job, layer);
    return output;
}

static int linear(heddle_onnx_exporter *job, const heddle_layer *layer, int input)
{
    const int output = weight_and_bias(job, layer, input, "Gemm");
    heddle_onnx_set_int(job->graph, "transB", 1);
    return output;
}

static int batchnorm2d(heddle_onnx_exporter *job, const heddle_layer *layer, int input)
{
    const int inputs[] = {
        input,
        heddle_onnx_export_parameter(job, layer, "weight"),
        heddle_onnx_export_parameter(job, layer, "bias"),
        heddle_onnx_export_parameter(job, layer, "running_mean"),
        heddle_onnx_export_parameter(job, layer, "running_var"),
    };
    const int output = heddle_onnx_export_node(job, layer, "", "BatchNormalization", inputs, 5);
    heddle_onnx_set_float(job->graph, "epsilon", layer->epsilon);
    heddle_onnx_set_float(job->graph, "momentum", 1 - layer->momentum); // ONNX counts what is kept
    return output;
}

static int layernorm(heddle_onnx_exporter *job, const heddle_layer *layer, int input)
{
    const int inputs[] = {input, heddle_onnx_export_parameter(job, layer, "weight"),
                          heddle_onnx_export_parameter(job, layer, "bias")};
    const int output = heddle_onnx_export_node(job, layer, "", "LayerNormalization", inputs, 3);
    heddle_onnx_set_int(job->graph, "axis", 1);
    heddle_onnx_set_float(job->graph, "epsilon", layer->epsilon);
    return output;
}

static int plain(heddle_onnx_exporter *job, const heddle_layer *layer, int input, const char *op)
{
    return heddle_onnx_export_node(job, layer, "", op, &input, 1);
}

static int relu(heddle_onnx_exporter *job, const heddle_layer *layer, int input)
{
    return plain(job, layer, input, "Relu");
}

static int tanh_(heddle_onnx_exporter *job, const heddle_layer *layer, int input)
{
    return plain(job, layer, input, "Tanh");
}

static int sigmoid(heddle_onnx_exporter *job, const heddle_layer *layer, int input)
{
    return plain(job, layer, input, "Sigmoid");
}

static int elu(heddle_onnx_exporter *job, const heddle_layer *layer, int input)
{
    return plain(job, layer, input, "Elu");
}

static int softplus(heddle_onnx_exporter *job, const heddle_layer *layer, int input)
{
    return plain(job, layer, input, "Softplus");
}

// x (1 + erf(x / √2)) / 2: Gelu itself is of opset 20.
static int gelu(heddle_onnx_exporter *job, const heddle_layer *layer, int input)
{
    const int scaled = heddle_onnx_export_node(job, layer, "scaled", "Div",
                                               (int[]){input, constant(job, layer, "root", (float)M_SQRT2)}, 2);
    const int erf = heddle_onnx_export_node(job, layer, "erf", "Erf", &scaled, 1);
    const int sum = heddle_onnx_export_node(job, layer, "sum", "Add", (int[]){erf, constant(job, layer, "one", 1)}, 2);
    const int twice = heddle_onnx_export_node(job, layer, "twice", "Mul", (int[]){input, sum}, 2);
    return heddle_onnx_export_node(job, layer, "", "Mul", (int[]){twice, constant(job, layer, "half", 0.5F)}, 2);
}

static int swish(heddle_onnx_exporter *job, const heddle_layer *layer, int input)
{
    const int gate = heddle_onnx_export_node(job, layer, "sigmoid", "Sigmoid", &input, 1);
    return heddle_onnx_export_node(job, layer, "", "Mul", (int[]){input, gate}, 2);
}

static int maxpool2d(heddle_onnx_exporter *job, const heddle_layer *layer, int input)
{
    const int output = plain(job, layer, input, "MaxPool");
    heddle_onnx_set_windows(job, layer->window, layer->stride, layer->padding);
    return output;
}

static int avgpool2d(heddle_onnx_exporter *job, const heddle_layer *layer, int input)
{
    const int output = plain(job, layer, input, "AveragePool");
    heddle_onnx_set_int(job->graph, "count_include_pad", 0);
    heddle_onnx_set_windows(job, layer->window, layer->stride, layer->padding);
    return output;
}

static int flatten(heddle_onnx_exporter *job, const heddle_layer *layer, int input)
{
    const int output = plain(job, layer, input, "Flatten");
    heddle_onnx_set_int(job->graph, "axis", 1);
    return output;
}

static int globalavgpool(heddle_onnx_exporter *job, const heddle_layer *layer, int input)
{
    const int mean = heddle_onnx_export_node(job, layer, "mean", "GlobalAveragePool", &input, 1);
    return flatten(job, layer, mean);
}

static int log_softmax(heddle_onnx_exporter *job, const heddle_layer *layer, int input)
{
    const int output = plain(job, layer, input, "LogSoftmax");
    heddle_onnx_set_int(job->graph, "axis", 1);
    return output;
}

// Outside training it does nothing.
static int dropout(heddle_onnx_exporter *job, const heddle_layer *layer, int input)
{
    (void)job, (void)layer;
    return input;
}

static const struct {
    const char *type;
    int (*add)(heddle_onnx_exporter *job, const heddle_layer *layer, int input);
} table[] = {
    {"conv2d", conv2d},
    {"linear", linear},
    {"batchnorm2d", batchnorm2d},
    {"layernorm", layernorm},
    {"relu", relu},
    {"tanh", tanh_},
    {"sigmoid", sigmoid},
    {"elu", elu},
    {"gelu", gelu},
    {"softplus", softplus},
    {"swish", swish},
    {"maxpool2d", maxpool2d},
    {"avgpool2d", avgpool2d},
    {"flatten", flatten},
    {"globalavgpool", globalavgpool},
    {"dropout", dropout},
    {"log_softmax", log_softmax},
};

static heddle_status residual(heddle_onnx_exporter *job, const heddle_layer *layer, int input, int *output)
{
    int inner = input, around = input;
    for (int i = 0; i < layer->layers.count; i++)
        HEDDLE_TRY(heddle_onnx_export_layer(job, &layer->layers.layers[i], inner, &inner));
    for (int i = 0; i < layer->projection.count; i++)
        HEDDLE_TRY(heddle_onnx_export_layer(job, &layer->projection.layers[i], around, &around));
    *output = heddle_onnx_export_node(job, layer, "", "Add", (int[]){inner, around}, 2);
    return HEDDLE_OK;
}

heddle_status heddle_onnx_export_layer(heddle_onnx_exporter *job, const heddle_layer *layer, int input, int *output)
{
    if (strcmp(layer->type->name, "residual") == 0)
        return residual(job, layer, input, output);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].type, layer->type->name) == 0) {
            *output = table[i].add(job, layer, input);
            return HEDDLE_OK;
        }
    return heddle_fail(HEDDLE_UNSUPPORTED, "layer %s (%s) cannot be exported: heddle knows no ONNX operators for it",
                       layer->name, layer->type->name);
}
