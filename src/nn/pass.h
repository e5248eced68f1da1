// A pass over a dataset that is on the device: evaluation without a wait between batches.
#pragma once

#include "nn/state.h"

typedef struct heddle_pass heddle_pass;
struct heddle_ranges;

// State and stream must outlive the pass, and so must the dataset's images. HEDDLE_OUT_OF_MEMORY where images and a
// batch's values do not fit.
// `ranges` are for int8, else NULL; see infer.h.
heddle_status heddle_pass_create(heddle_state *state, heddle_stream *stream, const heddle_dataset *dataset,
                                 const heddle_network_options *options, const struct heddle_ranges *ranges,
                                 heddle_pass **pass);
void heddle_pass_destroy(heddle_pass *pass);
// Whether it has room for just this many images; false for NULL.
bool heddle_pass_fits(const heddle_pass *pass, const heddle_dataset *dataset);
// Uploads the images of a dataset that fits.
heddle_status heddle_pass_upload(heddle_pass *pass, heddle_stream *stream, const heddle_dataset *dataset);
// Adds to what the evaluation holds.
heddle_status heddle_pass_run(heddle_pass *pass, heddle_stream *stream, heddle_evaluation *evaluation);

// Counts one sample in the confusion matrix: its truth, and the likeliest of the classes.
void heddle_confusion_count(int truth, const float *probabilities, heddle_evaluation *evaluation);
