// matmul by CUTLASS: NVIDIA's templates for products, instantiated for float32 on the regular cores.
//
// Two kernels are compiled: tiles of 128 by 128 with 256 threads, and of 64 by 128 with 128 threads for outputs that
// would have fewer large tiles than there are SMs. Both load tiles of k by cp.async, five stages deep, one element per
// copy, so that any alignment works. Only untransposed matrices: every other layout would be two more kernels to
// compile.
//
// Limited by: the float32 units, like rung 10. No split of k: small outputs with a long k leave SMs idle.

#include <cutlass/gemm/device/gemm.h>

#include "device/cuda/check.h"
#include "heddle/ops.h"
#include "ops/cuda/rung.h"

enum { DEPTH = 8, STAGES = 5, BAND = 8 }; // k of a tile, tiles of k in shared memory, rows of tiles that share L2

typedef cutlass::layout::RowMajor row_major;
typedef cutlass::epilogue::thread::LinearCombination<float, 1, float, float> epilogue;
typedef cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<BAND> tile_order;

template <int TILE_M, int TILE_N>
using float_product =
    cutlass::gemm::device::Gemm<float, row_major, float, row_major, float, row_major, float, cutlass::arch::OpClassSimt,
                                cutlass::arch::Sm80, cutlass::gemm::GemmShape<TILE_M, TILE_N, DEPTH>,
                                cutlass::gemm::GemmShape<32, 64, DEPTH>, cutlass::gemm::GemmShape<1, 1, 1>, epilogue,
                                tile_order, STAGES, 1, 1>;

template <int TILE_M, int TILE_N> static heddle_status multiply(const heddle_call *call)
{
    const heddle_matmul_shape *shape = (const heddle_matmul_shape *)call->shape;
    const float *a = (const float *)call->input[0], *b = (const float *)call->input[1];
    float *output = (float *)call->output[0];
    typename float_product<TILE_M, TILE_N>::Arguments arguments({shape->m, shape->n, shape->k}, {a, shape->k},
                                                                {b, shape->n}, {output, shape->n}, {output, shape->n},
                                                                {shape->alpha, shape->beta});
    float_product<TILE_M, TILE_N> product;
    cutlass::Status status = product(arguments, NULL, heddle_cuda_stream_of(call));
    if (status != cutlass::Status::kSuccess) {
        cudaGetLastError();
        return heddle_cuda_failed(HEDDLE_DEVICE, "CUTLASS refused the product", cutlass::cutlassGetStatusString(status),
                                  HEDDLE_CUDA_HERE("Gemm"));
    }
    return heddle_cuda_launched("cutlass");
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_matmul_shape *shape = (const heddle_matmul_shape *)call->shape;
    const int large = 128, small = 64;
    if (shape->m == 0 || shape->n == 0)
        return HEDDLE_OK;
    long long tiles = (long long)heddle_ceil_div(shape->m, large) * heddle_ceil_div(shape->n, large);
    return tiles < heddle_cuda_multiprocessors() ? multiply<small, large>(call) : multiply<large, large>(call);
}

HEDDLE_CUDA_RUNG("matmul_forward", "cutlass", launch)
