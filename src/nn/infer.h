// Predictions: a plan of their own. Batchnorm is folded into the convolution before it, activations are rows of 16 bits
// where the precision allows them, and images come as bytes, some batches under way at a time.
#pragma once

#include "nn/plan.h"

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

// --- infer.c ---------------------------------------------------------------------------------------------------------

// Predicts from bytes in host memory.
typedef struct heddle_infer heddle_infer;

// The state is a folded one and must outlive it, with parameters that stay as they are.
heddle_status heddle_infer_create(heddle_state *state, const heddle_network_options *options, heddle_infer **infer);
void heddle_infer_destroy(heddle_infer *infer);
// images (count, channels, height, width), 255 meaning 1; probabilities (count, classes). Pinned memory is copied from
// and to as it is, any other through pinned memory of the infer's own. Waits for the results.
heddle_status heddle_infer_run(heddle_infer *infer, const uint8_t *images, int count, float *probabilities);
