// matmul_host, rung 2: three streams and two of every buffer, so that copies and products run beside each other.
//
// Rung 1 does one thing at a time. Here the panels of the next step come in on a stream of their own while the call's
// stream multiplies those of this one, and a finished tile goes out on a third under the products of the tile after it.
// A card has a copy engine for each direction, and these three streams keep both of them and the multiprocessors busy.
// Events say when a buffer is full and when it may be filled again; the host queues everything and waits for nothing
// (streams.h). Copies run beside kernels only where the host's memory is pinned; pageable memory gives the same result
// as slowly as rung 1.
//
// What nothing can hide is kept short (plan.h): the first panels of all are shallow, so that the first product starts
// soon, and the last tile leaves in parts, each under the product of the next. Where k is short and the output's way
// out takes longest, tiles are bands of whole rows, which leave in one piece, and b stays.
//
// Limited by: the slowest of the three, link in, multiprocessors, link out. A tile of s by s multiplies s / 4 times for
// a byte that comes in: larger tiles, which take more memory, make the link matter less.

#include "ops/matmul_host/streams.h"

static heddle_status launch(const heddle_call *call)
{
    return host_run_streams(call, host_multiply_tuned);
}

HEDDLE_CUDA_RUNG("matmul_host", "02_streams", launch)
