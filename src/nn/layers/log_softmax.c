// log_softmax: the logarithms of the classes' probabilities.

#include "nn/layers/type.h"

static heddle_status lower(heddle_lowering *lowering, const heddle_layer *layer, heddle_value input,
                           heddle_value *output)
{
    heddle_rows_shape shape = {.rows = lowering->batch, .cols = layer->in[0]};
    heddle_binding bound[] = {{"input", input}};
    return heddle_lower_op(lowering, "log_softmax_forward", &shape, bound, 1, output);
}

const heddle_layer_type heddle_layer_log_softmax = {
    .name = "log_softmax",
    .short_name = "log_softmax",
    .summary = "logarithm of the classes' probabilities",
    .in_rank = 1,
    .infer = heddle_infer_same,
    .lower = lower,
};
