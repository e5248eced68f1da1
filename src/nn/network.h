// A network over a state somebody else owns: the trainer evaluates what it is training.
#ifndef HEDDLE_NN_NETWORK_H
#define HEDDLE_NN_NETWORK_H

#include "nn/state.h"

// `state` and `stream` must outlive the network.
heddle_status heddle_network_over(heddle_state *state, heddle_stream *stream, int batch, heddle_tier kernels,
                                  heddle_network **network);

#endif
