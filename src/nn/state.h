// A model's numbers on a device: parameters, gradients, the optimiser's moments and running statistics, each kind in
// one flat buffer, so that one launch updates every parameter and one copy saves them.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "heddle/train.h"
#include "nn/model.h"

typedef enum heddle_bank {
    HEDDLE_BANK_PARAMETERS,
    HEDDLE_BANK_STATISTICS, // running mean and variance
    HEDDLE_BANK_GRADIENTS,
    HEDDLE_BANK_MOMENT1, // momentum's velocity, AdamW's first moment
    HEDDLE_BANK_MOMENT2, // AdamW's second moment
    HEDDLE_BANKS,
} heddle_bank;

typedef struct heddle_state {
    heddle_device *device;
    const heddle_model *model; // must outlive the state
    size_t *offset;            // of each parameter spec, in floats, in its bank
    size_t floats[HEDDLE_BANKS];
    size_t undecayed;          // floats of the parameters without weight decay, which stand last
    float *bank[HEDDLE_BANKS]; // device memory; NULL where not needed
    float *hyper;              // HEDDLE_HYPER_COUNT floats of device memory
} heddle_state;

// Room for `model`; gradients and moments only as far as training with `optimizer` needs them (training false: none).
// Everything is zero at first.
heddle_status heddle_state_create(heddle_device *device, const heddle_model *model, bool training,
                                  heddle_optimizer optimizer, heddle_state **state);
void heddle_state_destroy(heddle_state *state);

// Sets parameters and statistics to their starting values.
heddle_status heddle_state_start(heddle_state *state, heddle_stream *stream, uint64_t seed);

// Copies a whole bank from or to host memory and waits.
heddle_status heddle_state_read(const heddle_state *state, heddle_stream *stream, heddle_bank bank, float *values);
heddle_status heddle_state_write(heddle_state *state, heddle_stream *stream, heddle_bank bank, const float *values);

// The bank that parameter `index` itself lives in, and the number of its elements.
heddle_bank heddle_state_bank(const heddle_state *state, int index);
size_t heddle_state_elements(const heddle_state *state, int index);
