// The table of layer types, and reading, writing and describing a layer through it.

#include "nn/layers.h"

#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "nn/lower.h"

// --- shapes ---------------------------------------------------------------------------------------------------------

static heddle_status infer_same(heddle_layer *layer)
{
    layer->out_rank = layer->in_rank;
    memcpy(layer->out, layer->in, sizeof layer->out);
    return HEDDLE_OK;
}

static heddle_status infer_flatten(heddle_layer *layer)
{
    layer->out_rank = 1;
    layer->out[0] = 1;
    for (int i = 0; i < layer->in_rank; i++)
        if (__builtin_mul_overflow(layer->out[0], layer->in[i], &layer->out[0]))
            return heddle_fail(HEDDLE_INVALID, "images of %d×%d×%d have more than %d features; pool them first",
                               layer->in[0], layer->in[1], layer->in[2], INT_MAX);
    return HEDDLE_OK;
}

static heddle_status infer_linear(heddle_layer *layer)
{
    layer->out_rank = 1;
    layer->out[0] = layer->features;
    return HEDDLE_OK;
}

// Height or width after a window of `extent` moves over `size` pixels.
static int windows(int size, int padding, int extent, int stride)
{
    int room = size + 2 * padding - extent;
    return room < 0 ? 0 : room / stride + 1;
}

static heddle_status infer_windows(heddle_layer *layer, int channels, int extent)
{
    layer->out_rank = 3;
    layer->out[0] = channels;
    for (int i = 1; i < 3; i++) {
        layer->out[i] = windows(layer->in[i], layer->padding, extent, layer->stride);
        if (layer->out[i] < 1)
            return heddle_fail(HEDDLE_INVALID, "a window of %d does not fit into %d×%d pixels with padding %d", extent,
                               layer->in[1], layer->in[2], layer->padding);
    }
    return HEDDLE_OK;
}

static heddle_status infer_conv2d(heddle_layer *layer)
{
    return infer_windows(layer, layer->channels, layer->dilation * (layer->kernel - 1) + 1);
}

static heddle_status infer_pool2d(heddle_layer *layer)
{
    if (layer->stride == 0)
        layer->stride = layer->window;
    if (2 * layer->padding > layer->window)
        return heddle_fail(HEDDLE_INVALID, "padding %d is more than half of window %d", layer->padding, layer->window);
    return infer_windows(layer, layer->in[0], layer->window);
}

// --- parameters -----------------------------------------------------------------------------------------------------

static void name_parameter(heddle_parameter_spec *spec, const heddle_layer *layer, const char *name)
{
    snprintf(spec->name, sizeof spec->name, "%s.%s", layer->name, name);
}

// Weight and bias uniform in ±1/sqrt(inputs of one output), as PyTorch starts its layers.
static int weight_and_bias(const heddle_layer *layer, heddle_parameter_spec *specs, int rank, const int *dims)
{
    int inputs = 1;
    for (int i = 1; i < rank; i++)
        inputs *= dims[i];
    float bound = 1.0F / sqrtf((float)inputs);
    specs[0] = (heddle_parameter_spec){.rank = rank, .start = HEDDLE_START_UNIFORM, .bound = bound, .trained = true};
    memcpy(specs[0].dims, dims, (size_t)rank * sizeof *dims);
    name_parameter(&specs[0], layer, "weight");
    if (!layer->bias)
        return 1;
    specs[1] = (heddle_parameter_spec){.rank = 1, .start = HEDDLE_START_UNIFORM, .bound = bound, .trained = true};
    specs[1].dims[0] = dims[0];
    name_parameter(&specs[1], layer, "bias");
    return 2;
}

static int conv2d_parameters(const heddle_layer *layer, heddle_parameter_spec specs[HEDDLE_LAYER_PARAMETERS])
{
    int dims[] = {layer->channels, layer->in[0], layer->kernel, layer->kernel};
    return weight_and_bias(layer, specs, 4, dims);
}

static int linear_parameters(const heddle_layer *layer, heddle_parameter_spec specs[HEDDLE_LAYER_PARAMETERS])
{
    int dims[] = {layer->features, layer->in[0]};
    return weight_and_bias(layer, specs, 2, dims);
}

static int batchnorm2d_parameters(const heddle_layer *layer, heddle_parameter_spec specs[HEDDLE_LAYER_PARAMETERS])
{
    static const struct {
        const char *name;
        heddle_start start;
        bool trained;
    } parts[] = {
        {"weight", HEDDLE_START_ONE, true}, // gamma and beta, under the names PyTorch gives them
        {"bias", HEDDLE_START_ZERO, true},
        {"running_mean", HEDDLE_START_ZERO, false},
        {"running_var", HEDDLE_START_ONE, false},
    };
    for (int i = 0; i < HEDDLE_LAYER_PARAMETERS; i++) {
        specs[i] = (heddle_parameter_spec){.rank = 1, .start = parts[i].start, .trained = parts[i].trained};
        specs[i].dims[0] = layer->in[0];
        name_parameter(&specs[i], layer, parts[i].name);
    }
    return HEDDLE_LAYER_PARAMETERS;
}

// --- the table ------------------------------------------------------------------------------------------------------

enum { MOST_CHANNELS = 65536, MOST_WINDOW = 64, MOST_FEATURES = 1 << 24 };

// clang-format off
#define SETTING(kind, field, least, most, initial, note) {#field, offsetof(heddle_layer, field), kind, least, most, initial, note}
#define INT_SETTING(...) SETTING(HEDDLE_SETTING_INT, __VA_ARGS__)
#define FLOAT_SETTING(...) SETTING(HEDDLE_SETTING_FLOAT, __VA_ARGS__)
#define BIAS_SETTING SETTING(HEDDLE_SETTING_BOOL, bias, 0, 1, 1, "add a trained number to each output")
#define SETTINGS(table) table, sizeof table / sizeof *table
#define ACTIVATION(name, summary) {name, name, summary, NULL, 0, 0, infer_same, NULL, heddle_lower_elements, name}
// clang-format on

static const heddle_setting conv2d_settings[] = {
    INT_SETTING(channels, 1, MOST_CHANNELS, NAN, "output channels"),
    INT_SETTING(kernel, 1, MOST_WINDOW, 3, "height and width of the filter"),
    INT_SETTING(stride, 1, MOST_WINDOW, 1, "step of the filter"),
    INT_SETTING(padding, 0, MOST_WINDOW, 0, "zeros around the image"),
    INT_SETTING(dilation, 1, MOST_WINDOW, 1, "distance between the filter's taps"),
    BIAS_SETTING,
};
static const heddle_setting batchnorm2d_settings[] = {
    FLOAT_SETTING(epsilon, 1e-12, 1, 1e-5, "added to the variance"),
    FLOAT_SETTING(momentum, 0, 1, 0.1, "weight of a new batch in the running statistics"),
};
static const heddle_setting pool2d_settings[] = {
    INT_SETTING(window, 1, MOST_WINDOW, 2, "height and width of the window"),
    INT_SETTING(stride, 0, MOST_WINDOW, 0, "step of the window; 0: the window's size"),
    INT_SETTING(padding, 0, MOST_WINDOW, 0, "pixels around the image that do not count"),
};
static const heddle_setting linear_settings[] = {
    {"features", offsetof(heddle_layer, features), HEDDLE_SETTING_FEATURES, 1, MOST_FEATURES, NAN,
     "outputs, or \"classes\" for one a class"},
    BIAS_SETTING,
};
static const heddle_setting dropout_settings[] = {
    FLOAT_SETTING(probability, 0, 0.99, 0.5, "how often an element is zeroed in training"),
};

static const heddle_layer_type types[] = {
    {"conv2d", "conv", "2-D convolution with a square filter", SETTINGS(conv2d_settings), 3, infer_conv2d,
     conv2d_parameters, heddle_lower_conv2d, "conv2d"},
    {"batchnorm2d", "norm", "batch normalisation over each channel", SETTINGS(batchnorm2d_settings), 3, infer_same,
     batchnorm2d_parameters, heddle_lower_batchnorm2d, "batchnorm2d"},
    ACTIVATION("relu", "max(x, 0)"),
    ACTIVATION("tanh", "hyperbolic tangent"),
    ACTIVATION("sigmoid", "1 / (1 + exp(-x))"),
    ACTIVATION("elu", "x, or exp(x) - 1 below zero"),
    ACTIVATION("gelu", "x times the normal distribution function of x"),
    ACTIVATION("softplus", "log(1 + exp(x))"),
    ACTIVATION("swish", "x times its sigmoid"),
    {"maxpool2d", "pool", "largest of each window", SETTINGS(pool2d_settings), 3, infer_pool2d, NULL,
     heddle_lower_pool2d, "maxpool2d"},
    {"avgpool2d", "pool", "mean of each window", SETTINGS(pool2d_settings), 3, infer_pool2d, NULL, heddle_lower_pool2d,
     "avgpool2d"},
    {"flatten", "flatten", "an image as one row of features", NULL, 0, 0, infer_flatten, NULL, heddle_lower_flatten,
     NULL},
    {"linear", "linear", "every output a weighted sum of all inputs", SETTINGS(linear_settings), 1, infer_linear,
     linear_parameters, heddle_lower_linear, "linear"},
    {"dropout", "dropout", "zeroes elements at random while training", SETTINGS(dropout_settings), 0, infer_same, NULL,
     heddle_lower_dropout, "dropout"},
    {"log_softmax", "log_softmax", "logarithm of the classes' probabilities", NULL, 0, 1, infer_same, NULL,
     heddle_lower_rows, "log_softmax"},
};

int heddle_layer_type_count(void)
{
    return (int)(sizeof types / sizeof *types);
}

const heddle_layer_type *heddle_layer_type_at(int index)
{
    return &types[index];
}

const heddle_layer_type *heddle_layer_type_find(const char *name)
{
    for (int i = 0; i < heddle_layer_type_count(); i++)
        if (strcmp(types[i].name, name) == 0)
            return &types[i];
    return NULL;
}

// --- reading --------------------------------------------------------------------------------------------------------

static heddle_status unknown_type(const char *what, const char *name)
{
    const char *names[sizeof types / sizeof *types];
    for (int i = 0; i < heddle_layer_type_count(); i++)
        names[i] = types[i].name;
    const char *nearest = heddle_text_nearest(name, names, heddle_layer_type_count());
    return heddle_fail(HEDDLE_INVALID, "%s: there is no layer type '%s'%s%s%s", what, name,
                       nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

// A misspelt setting must not pass for an absent one.
static heddle_status check_names(const char *what, const cJSON *json, const heddle_layer_type *type)
{
    const cJSON *field;
    cJSON_ArrayForEach(field, json)
    {
        const char *names[sizeof conv2d_settings / sizeof *conv2d_settings + 2] = {"type", "name"};
        int count = 2;
        for (int i = 0; i < type->setting_count; i++)
            names[count++] = type->settings[i].name;
        bool known = false;
        for (int i = 0; i < count; i++)
            known |= strcmp(names[i], field->string) == 0;
        if (known)
            continue;
        const char *nearest = heddle_text_nearest(field->string, names, count);
        return heddle_fail(HEDDLE_INVALID, "%s: %s has no setting '%s'%s%s%s", what, type->name, field->string,
                           nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
    }
    return HEDDLE_OK;
}

static heddle_status read_setting(const char *what, const cJSON *json, const heddle_setting *setting, int classes,
                                  heddle_layer *layer)
{
    void *at = (char *)layer + setting->offset;
    int *integer = at;
    float *real = at;
    const cJSON *field = cJSON_GetObjectItemCaseSensitive(json, setting->name);
    if (!field && isnan(setting->initial))
        return heddle_fail(HEDDLE_INVALID, "%s: '%s' is missing (%s)", what, setting->name, setting->note);
    if (setting->kind == HEDDLE_SETTING_BOOL) {
        if (field && !cJSON_IsBool(field))
            return heddle_fail(HEDDLE_INVALID, "%s: '%s' must be true or false", what, setting->name);
        *integer = field ? cJSON_IsTrue(field) : (int)setting->initial;
        return HEDDLE_OK;
    }
    if (setting->kind == HEDDLE_SETTING_FLOAT) {
        double value;
        HEDDLE_TRY(
            heddle_json_number_or(what, json, setting->name, setting->least, setting->most, setting->initial, &value));
        *real = (float)value;
        return HEDDLE_OK;
    }
    if (setting->kind == HEDDLE_SETTING_FEATURES && field && cJSON_IsString(field) &&
        strcmp(field->valuestring, "classes") == 0) {
        *integer = classes;
        return HEDDLE_OK;
    }
    long long value;
    HEDDLE_TRY(heddle_json_int_or(what, json, setting->name, (long long)setting->least, (long long)setting->most,
                                  isnan(setting->initial) ? 0 : (long long)setting->initial, &value));
    *integer = (int)value;
    return HEDDLE_OK;
}

heddle_status heddle_layer_parse(const char *what, const cJSON *json, int classes, heddle_layer *layer)
{
    if (!cJSON_IsObject(json))
        return heddle_fail(HEDDLE_INVALID, "%s: a layer is an object such as {\"type\": \"relu\"}", what);
    const char *type_name;
    HEDDLE_TRY(heddle_json_text(what, json, "type", &type_name));
    layer->type = heddle_layer_type_find(type_name);
    if (!layer->type)
        return unknown_type(what, type_name);
    HEDDLE_TRY(check_names(what, json, layer->type));
    for (int i = 0; i < layer->type->setting_count; i++)
        HEDDLE_TRY(read_setting(what, json, &layer->type->settings[i], classes, layer));
    if (layer->type->in_rank == 1 && layer->in_rank == 3)
        return heddle_fail(HEDDLE_INVALID,
                           "%s: %s takes features, but gets images of %d×%d×%d; put a flatten before it", what,
                           type_name, layer->in[0], layer->in[1], layer->in[2]);
    if (layer->type->in_rank == 3 && layer->in_rank == 1)
        return heddle_fail(HEDDLE_INVALID, "%s: %s takes images, but gets %d features; put it before the flatten", what,
                           type_name, layer->in[0]);
    heddle_status status = layer->type->infer(layer);
    return status == HEDDLE_OK ? HEDDLE_OK : heddle_fail_within(status, "%s: %s", what, type_name);
}

// --- writing --------------------------------------------------------------------------------------------------------

// A float as the shortest decimal that reads back to it, so that 0.1F is written 0.1.
static double shortest(float value)
{
    char text[32];
    double back = value;
    for (int digits = 1; digits < 10; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, (double)value);
        back = strtod(text, NULL);
        if ((float)back == value)
            break;
    }
    return back;
}

static double setting_value(const heddle_layer *layer, const heddle_setting *setting)
{
    const void *at = (const char *)layer + setting->offset;
    return setting->kind == HEDDLE_SETTING_FLOAT ? shortest(*(const float *)at) : *(const int *)at;
}

cJSON *heddle_layer_to_json(const heddle_layer *layer)
{
    cJSON *json = cJSON_CreateObject();
    bool whole = json && cJSON_AddStringToObject(json, "type", layer->type->name) &&
                 cJSON_AddStringToObject(json, "name", layer->name);
    for (int i = 0; i < layer->type->setting_count && whole; i++) {
        const heddle_setting *setting = &layer->type->settings[i];
        double value = setting_value(layer, setting);
        whole = setting->kind == HEDDLE_SETTING_BOOL ? cJSON_AddBoolToObject(json, setting->name, value != 0) != NULL
                                                     : cJSON_AddNumberToObject(json, setting->name, value) != NULL;
    }
    if (!whole) {
        cJSON_Delete(json);
        return NULL;
    }
    return json;
}

void heddle_layer_details(const heddle_layer *layer, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < layer->type->setting_count && used < size; i++) {
        const heddle_setting *setting = &layer->type->settings[i];
        double value = setting_value(layer, setting);
        bool plain = strcmp(setting->name, "stride") == 0 && layer->window == layer->stride;
        if (plain || (!isnan(setting->initial) && value == setting->initial && strcmp(setting->name, "kernel") != 0))
            continue;
        const char *comma = used ? ", " : "";
        int wrote = setting->kind == HEDDLE_SETTING_BOOL
                        ? snprintf(text + used, size - used, "%sno %s", comma, setting->name)
                        : snprintf(text + used, size - used, "%s%s %g", comma, setting->name, value);
        used += wrote > 0 ? (size_t)wrote : 0;
    }
}
