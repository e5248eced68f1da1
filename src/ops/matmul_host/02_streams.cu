// matmul_host, rung 2: three streams and double buffers, so that copies and products overlap.
//
// Rung 1 does one thing at a time. Here one stream copies the panels of the next step in while the call's stream
// multiplies this step's, and a third copies a finished tile out during the products of the next tile. A GPU has one
// copy engine per direction; the three streams keep both engines and the SMs busy. Events tell when a buffer is full
// and when it may be filled again. The host queues everything and waits for nothing (streams.h). Copies overlap with
// kernels only if the host's memory is pinned; pageable memory gives the same result at the speed of rung 1.
//
// What cannot overlap is kept short (plan.h). The very first panels are shallow, so that the first product starts soon.
// The last tile is copied out in parts, each during the product of the next. If k is short and copying the output takes
// longest, tiles are bands of whole rows, each copied out in one piece, and b stays on the device.
//
// Limited by: the slowest of link in, SMs and link out. A tile of s by s does s / 4 multiplications per byte that comes
// in: larger tiles, which take more memory, make the link matter less.

#include "ops/matmul_host/streams.h"

static heddle_status launch(const heddle_call *call)
{
    return host_run_streams(call, host_multiply_tuned);
}

HEDDLE_CUDA_RUNG("matmul_host", "02_streams", launch)
