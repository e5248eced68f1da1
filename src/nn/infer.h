// Predictions: a plan of their own. Batchnorm is folded into the convolution before it, activations are rows of 16 bits
// where the precision allows them, and images come as bytes, some batches under way at a time.
#pragma once

#include "nn/plan.h"
#include "nn/rows.h"

// --- infer_fold.c ----------------------------------------------------------------------------------------------------

// A model without dropout and without the batchnorms that follow a convolution, and its parameters, in which they are
// folded. Where there is nothing to fold, both are those it was made from.
typedef struct heddle_folded {
    const heddle_state *from;
    heddle_model *model; // NULL: that of `from`
    heddle_state *state;
} heddle_folded;

// `from` must outlive it. Without rows, batchnorms stay that a fused operator computes with their convolution.
heddle_status heddle_folded_create(heddle_state *from, const heddle_network_options *options, heddle_folded **folded);
void heddle_folded_destroy(heddle_folded *folded);
// Takes over the parameters as they are now; waits for the stream.
heddle_status heddle_folded_update(heddle_folded *folded, heddle_stream *stream);

// --- infer_rows.c ----------------------------------------------------------------------------------------------------

// Whether predictions of a model without batchnorm run over rows.
bool heddle_infer_by_rows(const heddle_model *model, int batch, heddle_device_kind device, heddle_tier kernels,
                          heddle_arithmetic arithmetic);
// Where the model, the device and the arithmetic allow it: appends the operators of a prediction over rows, and sets
// *made. The first of them, which copy the parameters, are for heddle_plan_prepare.
heddle_status heddle_plan_infer_rows(heddle_plan *plan, heddle_state *state, heddle_stream *stream,
                                     const heddle_value *parameters, bool *made);

// --- infer_alone.c ---------------------------------------------------------------------------------------------------

typedef struct heddle_alone heddle_alone;

// Whether predictions of single images by a model without batchnorm are one kernel.
bool heddle_infer_alone(const heddle_model *model, int batch, heddle_device_kind device, heddle_tier kernels,
                        heddle_arithmetic arithmetic);
// Where they are: copies the parameters as they are now, appends that one operator, and sets *made.
heddle_status heddle_plan_infer_alone(heddle_plan *plan, heddle_state *state, heddle_stream *stream, bool *made);
void heddle_alone_destroy(heddle_plan *plan);

// --- infer_calibrate.c -----------------------------------------------------------------------------------------------

// For int8: the largest magnitudes over some images of what each group of layers computes. `output` is of its product,
// after its function unless something is added before that; `left` of what the group leaves.
typedef struct heddle_ranges {
    float output[HEDDLE_ROWS_MOST_GROUPS_OF_LAYERS], left[HEDDLE_ROWS_MOST_GROUPS_OF_LAYERS];
} heddle_ranges;

// Of a folded state, over `count` of the dataset's images, evenly spaced. *ranges is NULL, without a failure, where the
// model does not run over rows; *misfit is then the layer that keeps it from that, or NULL if it is not a layer.
heddle_status heddle_calibrate(heddle_state *state, heddle_stream *stream, const heddle_dataset *dataset, int count,
                               const heddle_network_options *options, heddle_ranges **ranges,
                               const heddle_layer **misfit);

// --- infer_quantise.c ------------------------------------------------------------------------------------------------

// Quantises the parameters: each channel's weights symmetrically to bytes, activations by their ranges. Writes weights,
// scales and biases to the plan's memory, and the factors of rows_norm to its groups; waits for the stream.
heddle_status heddle_rows_quantise(heddle_plan *plan, const heddle_state *state, heddle_stream *stream);
// A product's bias in units of its sums, as a whole number, so that programs with sums in int32 can add the same; false
// where it does not fit.
bool heddle_rows_bias_sum(float bias, float unit, int32_t *sum);
// What a byte is worth of the sum of two bytes that are worth `unit` and `added`: a little more than the sum's range
// needs, so that no two bytes have a sum between two bytes, a tie. Some pairs of bytes are common in images; a tie that
// one program rounds up and another one down would change all layers behind it.
float heddle_rows_unit_of_sum(heddle_rows_function function, float range, float unit, float added);

// --- infer.c ---------------------------------------------------------------------------------------------------------

// Predicts from bytes in host memory.
typedef struct heddle_infer heddle_infer;

// The state is a folded one and must outlive it, with parameters that stay as they are.
// `ranges`, of int8 alone, must outlive it as well.
heddle_status heddle_infer_create(heddle_state *state, const heddle_network_options *options,
                                  const heddle_ranges *ranges, heddle_infer **infer);
void heddle_infer_destroy(heddle_infer *infer);
// A plan that it runs; NULL: it has not run yet.
const heddle_plan *heddle_infer_plan(const heddle_infer *infer);
// images (count, channels, height, width), 255 meaning 1; probabilities (count, classes). Pinned memory is copied from
// and to as it is, any other through pinned memory of the infer's own. Waits for the results.
heddle_status heddle_infer_run(heddle_infer *infer, const uint8_t *images, int count, float *probabilities);
