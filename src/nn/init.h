// Starting values from a file.
#pragma once

#include "nn/state.h"

// Takes over the weights in a safetensors or ONNX file, by name or, if no name fits, by order and shape. Layers without
// a counterpart keep what they have, with a warning that names them. HEDDLE_INVALID if nothing fits.
heddle_status heddle_state_start_from(heddle_state *state, heddle_stream *stream, const char *path);
