// batchnorm2d: each channel brought to mean 0 and variance 1 over the batch, then scaled and shifted. Outside training
// the running statistics take the batch's place.

#include "nn/layers/type.h"

static const heddle_setting settings[] = {
    {HEDDLE_LAYER_FLOAT(epsilon, 1e-12, 1, 1e-5, "added to the variance")},
    {HEDDLE_LAYER_FLOAT(momentum, 0, 1, 0.1, "weight of a new batch in the running statistics")},
    {HEDDLE_LAYER_DECAY},
};

static int parameters(const heddle_layer *layer, heddle_parameter_spec specs[HEDDLE_LAYER_PARAMETERS])
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
    enum { PARTS = sizeof parts / sizeof *parts };
    for (int i = 0; i < PARTS; i++) {
        specs[i] = heddle_parameter_make(layer, parts[i].name, 1, layer->in);
        specs[i].start = parts[i].start;
        specs[i].trained = parts[i].trained;
    }
    return PARTS;
}

static heddle_status lower(heddle_lowering *lowering, const heddle_layer *layer, heddle_value input,
                           heddle_value *output)
{
    if (lowering->training && lowering->batch == 1 && layer->in[1] * layer->in[2] == 1)
        return heddle_fail(HEDDLE_INVALID, "batchnorm2d needs at least 2 values per channel to train with, and a batch "
                                           "of 1 has a single one here");
    heddle_batchnorm2d_shape shape = {
        .n = lowering->batch,
        .c = layer->in[0],
        .h = layer->in[1],
        .w = layer->in[2],
        .epsilon = layer->epsilon,
        .momentum = layer->momentum,
    };
    heddle_binding bound[] = {{"input", input},
                              {"gamma", heddle_lower_parameter(lowering, layer, "weight")},
                              {"beta", heddle_lower_parameter(lowering, layer, "bias")},
                              {"running_mean", heddle_lower_parameter(lowering, layer, "running_mean")},
                              {"running_var", heddle_lower_parameter(lowering, layer, "running_var")}};
    const char *op = lowering->training ? "batchnorm2d_forward" : "batchnorm2d_inference";
    return heddle_lower_op(lowering, op, &shape, bound, 5, output);
}

const heddle_layer_type heddle_layer_batchnorm2d = {
    .name = "batchnorm2d",
    .short_name = "norm",
    .summary = "batch normalisation over each channel",
    HEDDLE_LAYER_SETTINGS(settings),
    .in_rank = 3,
    .infer = heddle_infer_same,
    .parameters = parameters,
    .lower = lower,
};
