#pragma once

#include "api/stream.h"

// Adds work to a stream, or to the graph that it captures into. Takes the work over.
cudaError_t sim_stream_submit(struct CUstream_st *stream, sim_work *work);
