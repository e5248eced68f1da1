// Kernels that are limited by one unit only. They show its speed at the clock that the GPU keeps under load.

#include "device/cuda/cuda.h"

#if defined(HEDDLE_SIM_MODULE)

heddle_status heddle_cuda_exercise(heddle_stream *stream, heddle_device_unit unit, void *memory, size_t bytes,
                                   double *amount)
{
    (void)stream, (void)unit, (void)memory, (void)bytes;
    *amount = 0;
    return heddle_cuda_fail(HEDDLE_UNSUPPORTED, "the simulated GPU reports no timings: there is nothing to measure");
}

#else

enum {
    BLOCK = 256,
    BLOCKS_PER_SM = 4, // 32 warps: each scheduler has 8 to choose from
    CHAINS = 16,       // independent sums per thread: more than the latency of one, in clocks
    STEPS = 1 << 18,   // multiplications and additions of a chain
    READS = 8,         // in flight per thread
    SHARED_STEPS = 1 << 14,
    SHARED_VECTORS = 2048, // 32 KiB
    CACHE_BYTES = 1 << 24, // that a block reads
    LAUNCHES = 1000,
};
static_assert(CACHE_BYTES / (int)sizeof(float4) % (BLOCK * READS) == 0, "a block reads all of them");

// Keeps a sum from being left out by the compiler: it is stored where it is NaN, which it never is.
__device__ static void use(float sum, float *never)
{
    if (sum != sum)
        *never = sum;
}

__global__ static void multiply_add(float factor, float *never)
{
    float sums[CHAINS];
#pragma unroll
    for (int i = 0; i < CHAINS; i++)
        sums[i] = (float)(threadIdx.x + i);
    for (int step = 0; step < STEPS; step++) {
#pragma unroll
        for (int i = 0; i < CHAINS; i++)
            sums[i] = sums[i] * factor + factor;
    }
    float total = 0;
#pragma unroll
    for (int i = 0; i < CHAINS; i++)
        total += sums[i];
    use(total, never);
}

// Neighbouring lanes read neighbouring vectors, without bank conflicts; each step begins elsewhere, so that no read can
// be left out.
__global__ static void read_shared(float *never)
{
    __shared__ float4 vectors[SHARED_VECTORS];
    for (int i = threadIdx.x; i < SHARED_VECTORS; i += BLOCK)
        vectors[i] = make_float4(i, i, i, i);
    __syncthreads();
    float4 sum = make_float4(0, 0, 0, 0);
    int at = threadIdx.x;
    for (int step = 0; step < SHARED_STEPS; step++) {
#pragma unroll
        for (int i = 0; i < READS; i++) {
            float4 value = vectors[(at + i * BLOCK) % SHARED_VECTORS];
            sum = make_float4(sum.x + value.x, sum.y + value.y, sum.z + value.z, sum.w + value.w);
        }
        at = (at + BLOCK / 2) % SHARED_VECTORS;
    }
    use(sum.x + sum.y + sum.z + sum.w, never);
}

// __ldcg: past the first-level cache. Blocks begin at different places.
__global__ static void read_cache(const float4 *vectors, int count, float *never)
{
    float4 sum = make_float4(0, 0, 0, 0);
    unsigned at = blockIdx.x * (BLOCK * READS) % count + threadIdx.x;
    for (int step = 0; step < CACHE_BYTES / (int)sizeof(float4) / (BLOCK * READS); step++) {
        float4 value[READS];
#pragma unroll
        for (int i = 0; i < READS; i++) {
            unsigned from = at + i * BLOCK;
            value[i] = __ldcg(&vectors[from < (unsigned)count ? from : from - count]);
        }
#pragma unroll
        for (int i = 0; i < READS; i++)
            sum = make_float4(sum.x + value[i].x, sum.y + value[i].y, sum.z + value[i].z, sum.w + value[i].w);
        at += BLOCK * READS;
        at = at < (unsigned)count ? at : at - count;
    }
    use(sum.x + sum.y + sum.z + sum.w, never);
}

__global__ static void do_nothing(void)
{
}

heddle_status heddle_cuda_exercise(heddle_stream *stream, heddle_device_unit unit, void *memory, size_t bytes,
                                   double *amount)
{
    const int count = (int)(bytes / sizeof(float4));
    int processors = 0;
    cudaStream_t on = heddle_cuda_raw(stream);
    HEDDLE_TRY(heddle_cuda_select(stream->device));
    HEDDLE_CUDA_TRY(
        cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, heddle_cuda_index(stream->device)));
    const int blocks = processors * BLOCKS_PER_SM;
    const double threads = (double)BLOCK * blocks;
    switch (unit) {
    case HEDDLE_UNIT_FLOAT32:
        multiply_add<<<blocks, BLOCK, 0, on>>>(0.5f, NULL);
        *amount = 2.0 * CHAINS * STEPS * threads;
        break;
    case HEDDLE_UNIT_SHARED:
        read_shared<<<blocks, BLOCK, 0, on>>>(NULL);
        *amount = (double)sizeof(float4) * READS * SHARED_STEPS * threads;
        break;
    case HEDDLE_UNIT_CACHE:
        if (count < 2 * BLOCK * READS)
            return heddle_cuda_fail(HEDDLE_INVALID, "%zu bytes are too few to measure the cache", bytes);
        HEDDLE_CUDA_TRY(cudaMemsetAsync(memory, 0, bytes, on));
        read_cache<<<blocks, BLOCK, 0, on>>>((const float4 *)memory, count, NULL);
        *amount = (double)CACHE_BYTES * blocks;
        break;
    case HEDDLE_UNIT_LAUNCH:
        for (int i = 0; i < LAUNCHES; i++)
            do_nothing<<<1, 1, 0, on>>>();
        *amount = LAUNCHES;
        break;
    }
    return HEDDLE_CUDA_CHECK(cudaGetLastError());
}

#endif
