// globalavgpool: the mean of each channel, as a row of features.

#include "nn/layers/type.h"

static heddle_status infer(heddle_layer *layer)
{
    layer->out_rank = 1;
    layer->out[0] = layer->in[0];
    return HEDDLE_OK;
}

static heddle_status lower(heddle_lowering *lowering, const heddle_layer *layer, heddle_value input,
                           heddle_value *output)
{
    heddle_globalavgpool_shape shape = {.n = lowering->batch, .c = layer->in[0], .h = layer->in[1], .w = layer->in[2]};
    heddle_binding bound[] = {{"input", input}};
    return heddle_lower_op(lowering, "globalavgpool_forward", &shape, bound, 1, output);
}

const heddle_layer_type heddle_layer_globalavgpool = {
    .name = "globalavgpool",
    .short_name = "pool",
    .summary = "mean of each channel, as features",
    .in_rank = 3,
    .infer = infer,
    .lower = lower,
};
