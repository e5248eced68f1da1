// Lowering: a layer becomes the operators its type says; with fused kernels, [conv 3×3, batchnorm, relu, maxpool 2]
// becomes one. Which rung runs an operator is the plan's choice.

#include "nn/lower.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "heddle/ops.h"

enum { MAX_BOUND = 8, OP_NAME = 64 };

heddle_value heddle_lower_parameter(const heddle_lowering *lowering, const heddle_layer *layer, const char *name)
{
    int index = heddle_model_parameter_index(lowering->model, layer->name, name);
    return index < 0 ? HEDDLE_NO_VALUE : lowering->parameters[index];
}

heddle_status heddle_lower_op(heddle_lowering *lowering, const char *op_name, const void *shape,
                              const heddle_binding *bound, int count, heddle_value *output)
{
    const heddle_op *op;
    HEDDLE_TRY(heddle_op_find(op_name, &op));
    heddle_binding present[MAX_BOUND];
    int present_count = 0, node;
    for (int i = 0; i < count; i++)
        if (bound[i].value != HEDDLE_NO_VALUE)
            present[present_count++] = bound[i];
    HEDDLE_TRY(heddle_trace_apply(lowering->trace, op, shape, present, present_count, &node));
    *output = heddle_trace_operand(lowering->trace, node, "output");
    return HEDDLE_OK;
}

heddle_status heddle_lower_reshape(heddle_lowering *lowering, const heddle_layer *layer, heddle_value *output)
{
    int dims[4] = {lowering->batch};
    memcpy(dims + 1, layer->out, (size_t)layer->out_rank * sizeof *dims);
    return heddle_trace_reshape(lowering->trace, *output, layer->out_rank + 1, dims, output);
}

heddle_status heddle_lower_elements(const heddle_lowering *lowering, int rank, const int *dims, int *count)
{
    *count = lowering->batch;
    for (int i = 0; i < rank; i++)
        if (__builtin_mul_overflow(*count, dims[i], count))
            return heddle_fail(HEDDLE_INVALID, "a batch of %d has more than %d elements here; choose a smaller batch",
                               lowering->batch, INT_MAX);
    return HEDDLE_OK;
}

heddle_status heddle_lower_random(heddle_lowering *lowering, int elements, heddle_value *random)
{
    if (lowering->dropouts == HEDDLE_MAX_DROPOUTS)
        return heddle_fail(HEDDLE_UNSUPPORTED, "a model with more than %d dropout layers", HEDDLE_MAX_DROPOUTS);
    int words = HEDDLE_RANDOM_WORDS;
    HEDDLE_TRY(heddle_trace_value_add(lowering->trace, "random", HEDDLE_I64, 1, &words, random));
    lowering->dropout_random[lowering->dropouts] = *random;
    lowering->dropout_elements[lowering->dropouts++] = elements;
    return HEDDLE_OK;
}

// --- fused blocks ---------------------------------------------------------------------------------------------------

static bool is_type(const heddle_layer *layer, const char *name)
{
    return strcmp(layer->type->name, name) == 0;
}

bool heddle_is_block(const heddle_layer *layers, int count)
{
    if (count < HEDDLE_BLOCK_LAYERS)
        return false;
    const heddle_layer *conv = layers, *norm = conv + 1, *relu = conv + 2, *pool = conv + 3;
    return is_type(conv, "conv2d") && conv->kernel == 3 && conv->stride == 1 && conv->padding == 1 &&
           conv->dilation == 1 && conv->groups == 1 && is_type(norm, "batchnorm2d") && is_type(relu, "relu") &&
           is_type(pool, "maxpool2d") && pool->window == 2 && pool->stride == 2 && pool->padding == 0;
}

static heddle_conv_block_shape block_shape(const heddle_lowering *lowering, const heddle_layer *conv)
{
    return (heddle_conv_block_shape){
        .n = lowering->batch,
        .c = conv->in[0],
        .h = conv->in[1],
        .w = conv->in[2],
        .k = conv->channels,
        .epsilon = conv[1].epsilon,
        .momentum = conv[1].momentum,
    };
}

// Is there a fused rung for this operator and shape on this device, in every direction the step needs?
static bool fused_rung(const heddle_lowering *lowering, const char *op_name, const heddle_conv_block_shape *shape)
{
    const char *directions[] = {lowering->training ? "forward" : "inference", lowering->training ? "backward" : NULL};
    for (int i = 0; i < 2 && directions[i]; i++) {
        char name[OP_NAME];
        snprintf(name, sizeof name, "%s_%s", op_name, directions[i]);
        const heddle_op *op;
        const heddle_rung *rung;
        if (heddle_op_find(name, &op) != HEDDLE_OK ||
            heddle_rung_choose(op, lowering->device, HEDDLE_FUSED, lowering->arithmetic, shape, &rung) != HEDDLE_OK ||
            rung->tier != HEDDLE_FUSED)
            return false;
    }
    return true;
}

// The fused operator for the block at `index` of a list, or NULL: the model's first layer needs no gradient of its
// input, so stem_block can compute it without ever storing the convolution.
static const char *block_op(const heddle_lowering *lowering, const heddle_layer_list *list, int index)
{
    const heddle_layer *first = &list->layers[index];
    if (lowering->kernels != HEDDLE_FUSED || !heddle_is_block(first, list->count - index))
        return NULL;
    // On a GPU a block's batchnorm cannot wait for other ranks in its middle.
    if (lowering->training && lowering->several_ranks && lowering->device != HEDDLE_CPU)
        return NULL;
    heddle_conv_block_shape shape = block_shape(lowering, first);
    if (first == lowering->model->layers && fused_rung(lowering, "stem_block", &shape))
        return "stem_block";
    return fused_rung(lowering, "conv_block", &shape) ? "conv_block" : NULL;
}

// Between two blocks activations stay (n, h, w, c), which the fused rungs want; everybody else expects (n, c, h, w).
static heddle_status lower_block(heddle_lowering *lowering, const heddle_layer *conv, const char *op_name,
                                 bool input_channels_last, bool output_channels_last, heddle_value *value)
{
    const heddle_layer *norm = conv + 1;
    heddle_conv_block_shape shape = block_shape(lowering, conv);
    shape.input_channels_last = input_channels_last;
    shape.output_channels_last = output_channels_last;
    heddle_binding bound[] = {
        {"input", *value},
        {"weight", heddle_lower_parameter(lowering, conv, "weight")},
        {"bias", heddle_lower_parameter(lowering, conv, "bias")},
        {"gamma", heddle_lower_parameter(lowering, norm, "weight")},
        {"beta", heddle_lower_parameter(lowering, norm, "bias")},
        {"running_mean", heddle_lower_parameter(lowering, norm, "running_mean")},
        {"running_var", heddle_lower_parameter(lowering, norm, "running_var")},
    };
    char name[OP_NAME];
    snprintf(name, sizeof name, "%s_%s", op_name, lowering->training ? "forward" : "inference");
    return heddle_lower_op(lowering, name, &shape, bound, 7, value);
}

heddle_status heddle_lower_layers(heddle_lowering *lowering, const heddle_layer_list *list, heddle_value input,
                                  heddle_value *output)
{
    heddle_value value = input;
    bool channels_last = false;
    const heddle_purpose around = lowering->trace->purpose; // of the layer that these are inside of
    for (int i = 0; i < list->count;) {
        const heddle_layer *layer = &list->layers[i];
        const char *op_name = block_op(lowering, list, i);
        bool block_follows = op_name && block_op(lowering, list, i + HEDDLE_BLOCK_LAYERS);
        lowering->trace->purpose.layer = layer->name;
        lowering->trace->purpose.last = op_name ? layer[HEDDLE_BLOCK_LAYERS - 1].name : NULL;
        heddle_status status = op_name ? lower_block(lowering, layer, op_name, channels_last, block_follows, &value)
                                       : layer->type->lower(lowering, layer, value, &value);
        if (status != HEDDLE_OK)
            return heddle_fail_within(status, "layer %s", layer->name);
        channels_last = block_follows;
        i += op_name ? HEDDLE_BLOCK_LAYERS : 1;
    }
    lowering->trace->purpose = around;
    *output = value;
    return HEDDLE_OK;
}

heddle_status heddle_lower_model(heddle_lowering *lowering, heddle_value images, heddle_value *logits)
{
    const heddle_layer_list list = {lowering->model->layers, lowering->model->layer_count};
    return heddle_lower_layers(lowering, &list, images, logits);
}
