// A network over a state somebody else owns, as the trainer evaluates what it is training; and what pictures have to
// look like for a network.
#pragma once

#include "data/prepare.h"
#include "nn/state.h"

// `state` and `stream` must outlive the network.
heddle_status heddle_network_over(heddle_state *state, heddle_stream *stream, const heddle_network_options *options,
                                  heddle_network **network);
// What its products are computed in, as of the last prediction; before the first, what was asked for.
heddle_arithmetic heddle_network_arithmetic(const heddle_network *network);
// Its parameters, and the stream that they are used on.
heddle_state *heddle_network_state(const heddle_network *network, heddle_stream **stream);
// How a calibrated network computes in int8: its groups of layers, the parameters they have, batchnorm folded in, and
// the checkpoint it is from, or NULL. All of them are the network's. HEDDLE_UNSUPPORTED where it has no int8.
typedef struct heddle_network_bytes {
    const struct heddle_rows *rows;
    const heddle_state *state;
    heddle_stream *stream;
    const struct heddle_checkpoint *checkpoint;
} heddle_network_bytes;
heddle_status heddle_network_in_bytes(heddle_network *network, heddle_network_bytes *bytes);
// What the images look like that it was trained on, for heddle_prepare; zeros when that is not known.
heddle_image_traits heddle_network_traits(const heddle_network *network);
