// matmul, tf32, rung 13: wgmma reads shared memory itself, TMA fills it.
//
// Rung 12 spent most of its instructions on data movement: addresses and copies into shared memory, fragments out of
// it, each rounded on the way. Here one thread asks the copy engine (TMA) for a whole tile, and all threads wait for
// the barrier that counts its bytes. Then the four warps multiply 64 x 256 x 8 with one instruction that takes its
// operands as descriptors of shared memory. TMA rounds each float to tf32 during the copy (wgmma alone would truncate
// it). wgmma takes floats only K-major: a (m, k) and b (n, k).
//
// hopper.h describes the layout of tile and swizzle.
//
// Limited by: serialisation. A block loads, waits, multiplies, waits; three blocks per SM hide some of it. Each block
// has only 64 rows: 64 * 256 products need 64 + 256 elements from L2.

#include "heddle/ops.h"
#include "ops/cuda/hopper.h"
#include "ops/cuda/rung.h"
#include "ops/matmul/matmul_tf32_cuda.h"

enum {
    TILE_M = 64,  // rows of one wgmma
    TILE_N = 256, // columns: the most one wgmma handles
    TILE_K = 32,  // 128 bytes of k: a row of a box
    STEP_K = 8,   // k of one wgmma
    A_BYTES = TILE_M * HOPPER_ROW_BYTES,
    B_BYTES = TILE_N * HOPPER_ROW_BYTES,
    SHARED_BYTES = A_BYTES + B_BYTES + HOPPER_ROWS_BYTES,
    BLOCKS = 3, // per SM: what 128 sums and some 40 other registers per thread leave room for
};

// Two neighbouring columns of the output; the number of columns is even. One 8-byte store; four lanes fill a sector.
__device__ static void store_pair(const heddle_matmul_shape *shape, float *output, int row, int column, float first,
                                  float second)
{
    if (row >= shape->m || column >= shape->n)
        return;
    float2 *place = (float2 *)&output[(size_t)row * shape->n + column];
    float2 value = {shape->alpha * first, shape->alpha * second};
    if (shape->beta != 0.0f) {
        float2 old = *place;
        value.x += shape->beta * old.x, value.y += shape->beta * old.y;
    }
    *place = value;
}

// a: (m, k), b: (n, k), output: (m, n)
__global__ void __launch_bounds__(HOPPER_WARPGROUP, BLOCKS)
    matmul_tf32_wgmma(const heddle_matmul_shape shape, const __grid_constant__ CUtensorMap map_a,
                      const __grid_constant__ CUtensorMap map_b, float *output)
{
    extern __shared__ unsigned char shared[];
    __shared__ uint64_t loaded;
    unsigned char *a = shared + (HOPPER_ROWS_BYTES - hopper_shared(shared) % HOPPER_ROWS_BYTES) % HOPPER_ROWS_BYTES;
    unsigned char *b = a + A_BYTES;
    const int across = (shape.n - 1) / TILE_N + 1; // tiles per row of tiles
    const int row = blockIdx.x / across * TILE_M, column = blockIdx.x % across * TILE_N;
    if (threadIdx.x == 0) {
        mbarrier_init(&loaded, 1);
        mbarrier_init_fence();
    }
    __syncthreads();

    const uint64_t descriptor_a = wgmma_descriptor(a, 0), descriptor_b = wgmma_descriptor(b, 0);
    float sums[128];
    unsigned phase = 0;
    for (int p = 0; p < shape.k; p += TILE_K, phase ^= 1) {
        if (threadIdx.x == 0) {
            mbarrier_arrive_expect(&loaded, A_BYTES + B_BYTES);
            tma_load(a, &map_a, p, row, &loaded);
            tma_load(b, &map_b, p, column, &loaded);
        }
        mbarrier_wait(&loaded, phase);
        wgmma_fence();
        for (int step = 0; step < TILE_K / STEP_K; step++) {
            const unsigned offset = step * STEP_K * sizeof(float);
            wgmma_m64n256k8_tf32(sums, wgmma_descriptor_at(descriptor_a, offset),
                                 wgmma_descriptor_at(descriptor_b, offset), p + step > 0);
        }
        wgmma_commit();
        wgmma_wait<0>();
        __syncthreads(); // all four warps have read the tile
    }
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int i = 0; i < 128; i += 2)
        store_pair(&shape, output, row + warp * 16 + i / 2 % 2 * 8 + lane / 4, column + i / 4 * 8 + lane % 4 * 2,
                   sums[i], sums[i + 1]);
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_matmul_shape *shape = (const heddle_matmul_shape *)call->shape;
    const CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_TFLOAT32;
    if (!tma_takes(call))
        return heddle_matmul_tf32_mma_sync(call);
    CUtensorMap a, b;
    heddle_status status = tma_map(&a, type, sizeof(float), call->input[0], shape->m, shape->k, TILE_M);
    if (status == HEDDLE_OK)
        status = tma_map(&b, type, sizeof(float), call->input[1], shape->n, shape->k, TILE_N);
    if (status != HEDDLE_OK)
        return status;
    cudaStream_t stream = heddle_cuda_stream_of(call);
    cudaFuncSetAttribute(matmul_tf32_wgmma, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES);
    unsigned blocks = heddle_ceil_div(shape->m, TILE_M) * heddle_ceil_div(shape->n, TILE_N);
    matmul_tf32_wgmma<<<blocks, HOPPER_WARPGROUP, SHARED_BYTES, stream>>>(*shape, a, b, (float *)call->output[0]);
    return heddle_cuda_launched("13_tf32_wgmma_tma");
}

HEDDLE_CUDA_RUNG("matmul_forward", "13_tf32_wgmma_tma", launch)
