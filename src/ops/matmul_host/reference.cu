// matmul_host's float64 reference as a kernel, for benchmark shapes that would take minutes on a CPU. A benchmark has
// its inputs on the device as well, and the reference reads them there.

#include "ops/matmul/reference.h"

static heddle_status launch(const heddle_call *call)
{
    const heddle_matmul_host_shape *shape = (const heddle_matmul_host_shape *)call->shape;
    heddle_product product = heddle_product_plain(shape->m, shape->n, shape->k, 0, 0);
    product.a = (const float *)call->input[0];
    product.b = (const float *)call->input[1];
    return heddle_product_reference(&product, (double *)call->output[0], heddle_cuda_stream_of(call));
}

HEDDLE_CUDA_REFERENCE("matmul_host", launch)
