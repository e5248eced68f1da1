// matmul_bf16, rung 4: wgmma reads shared memory itself, TMA fills it.
//
// Rung 3 spent most of its instructions on data movement: addresses and copies into shared memory, ldmatrix out of it.
// Here one thread asks the copy engine (TMA) for a whole tile, and all threads wait for the barrier that counts its
// bytes. Then the four warps multiply 64 x 256 x 16 with one instruction that takes its operands as descriptors of
// shared memory. Both operands may be stored either way round: TMA copies boxes as they are, and wgmma has one bit per
// operand for the order.
//
// hopper.h describes the layout of tile and swizzle.
//
// Limited by: serialisation. A block loads, waits, multiplies, waits; three blocks per SM hide some of it. Each block
// has only 64 rows: 64 * 256 products need 64 + 256 elements from L2.

#include <cuda_bf16.h>

#include "heddle/ops.h"
#include "ops/cuda/hopper.h"
#include "ops/cuda/rung.h"
#include "ops/matmul_bf16/matmul_bf16_cuda.h"

enum {
    TILE_M = 64,  // rows of one wgmma
    TILE_N = 256, // columns: the most one wgmma handles
    TILE_K = 64,  // 128 bytes of k: a row of a box
    STEP_K = 16,  // k of one wgmma
    BOX = 64,     // columns of an M-major box
    BOX_BYTES = BOX * HOPPER_ROW_BYTES,
    A_BYTES = TILE_M * HOPPER_ROW_BYTES,
    B_BYTES = TILE_N * HOPPER_ROW_BYTES,
    SHARED_BYTES = A_BYTES + B_BYTES + HOPPER_ROWS_BYTES,
    BLOCKS = 3, // per SM: what 128 sums and some 40 other registers per thread leave room for
};

// One thread starts the copies of both operands' tiles at (row, p) and (p, column).
template <int MMajorA, int MMajorB>
__device__ static void load(const CUtensorMap *map_a, const CUtensorMap *map_b, unsigned char *a, unsigned char *b,
                            uint64_t *loaded, int row, int column, int p)
{
    mbarrier_arrive_expect(loaded, A_BYTES + B_BYTES);
    tma_load(a, map_a, MMajorA ? row : p, MMajorA ? p : row, loaded);
    if (!MMajorB)
        tma_load(b, map_b, p, column, loaded);
    for (int box = 0; MMajorB && box < TILE_N / BOX; box++)
        tma_load(b + box * BOX_BYTES, map_b, column + box * BOX, p, loaded);
}

// a: (m, k) or M-major (k, m); b: (n, k) or M-major (k, n); output: (m, n)
template <int MMajorA, int MMajorB>
__global__ void __launch_bounds__(HOPPER_WARPGROUP, BLOCKS)
    matmul_bf16_wgmma(const heddle_matmul_shape shape, const __grid_constant__ CUtensorMap map_a,
                      const __grid_constant__ CUtensorMap map_b, __nv_bfloat16 *output)
{
    extern __shared__ unsigned char shared[];
    __shared__ uint64_t loaded;
    unsigned char *a = shared + (HOPPER_ROWS_BYTES - hopper_shared(shared) % HOPPER_ROWS_BYTES) % HOPPER_ROWS_BYTES;
    unsigned char *b = a + A_BYTES;
    const int across = (shape.n - 1) / TILE_N + 1; // tiles per row of tiles
    const int row = blockIdx.x / across * TILE_M, column = blockIdx.x % across * TILE_N;
    const int next_a = MMajorA ? STEP_K * HOPPER_ROW_BYTES : STEP_K * (int)sizeof(__nv_bfloat16);
    const int next_b = MMajorB ? STEP_K * HOPPER_ROW_BYTES : STEP_K * (int)sizeof(__nv_bfloat16);
    if (threadIdx.x == 0) {
        mbarrier_init(&loaded, 1);
        mbarrier_init_fence();
    }
    __syncthreads();

    const uint64_t descriptor_a = wgmma_descriptor(a, BOX_BYTES), descriptor_b = wgmma_descriptor(b, BOX_BYTES);
    float sums[128];
    unsigned phase = 0;
    for (int p = 0; p < shape.k; p += TILE_K, phase ^= 1) {
        if (threadIdx.x == 0)
            load<MMajorA, MMajorB>(&map_a, &map_b, a, b, &loaded, row, column, p);
        mbarrier_wait(&loaded, phase);
        wgmma_fence();
        for (int step = 0; step < TILE_K / STEP_K; step++)
            wgmma_m64n256k16_bf16<MMajorA, MMajorB>(sums, wgmma_descriptor_at(descriptor_a, step * next_a),
                                                    wgmma_descriptor_at(descriptor_b, step * next_b), p + step > 0);
        wgmma_commit();
        wgmma_wait<0>();
        __syncthreads(); // all four warps have read the tile
    }
    matmul_bf16_store(sums, &shape, output, row, column);
}

template <int MMajorA, int MMajorB> static heddle_status launch_layout(const heddle_call *call)
{
    const heddle_matmul_shape *shape = (const heddle_matmul_shape *)call->shape;
    const int m = shape->m, n = shape->n, k = shape->k, size = sizeof(__nv_bfloat16);
    const CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    CUtensorMap a, b;
    heddle_status status = tma_map(&a, type, size, call->input[0], MMajorA ? k : m, MMajorA ? m : k, 64);
    if (status == HEDDLE_OK)
        status = tma_map(&b, type, size, call->input[1], MMajorB ? k : n, MMajorB ? n : k,
                         MMajorB ? (int)TILE_K : (int)TILE_N);
    if (status != HEDDLE_OK)
        return status;
    auto kernel = matmul_bf16_wgmma<MMajorA, MMajorB>;
    cudaStream_t stream = heddle_cuda_stream_of(call);
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES);
    unsigned blocks = heddle_ceil_div(m, TILE_M) * heddle_ceil_div(n, TILE_N);
    kernel<<<blocks, HOPPER_WARPGROUP, SHARED_BYTES, stream>>>(*shape, a, b, (__nv_bfloat16 *)call->output[0]);
    return heddle_cuda_launched("04_wgmma_tma");
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_matmul_shape *shape = (const heddle_matmul_shape *)call->shape;
    if (!tma_takes(call))
        return heddle_matmul_bf16_mma_sync(call);
    if (shape->transpose_a)
        return shape->transpose_b ? launch_layout<1, 0>(call) : launch_layout<1, 1>(call);
    return shape->transpose_b ? launch_layout<0, 0>(call) : launch_layout<0, 1>(call);
}

HEDDLE_CUDA_RUNG("matmul_bf16_forward", "04_wgmma_tma", launch)
