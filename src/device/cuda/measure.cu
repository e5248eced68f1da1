// A kernel that does nothing but multiply and add, to see how fast the float32 units really are: at the clock that the
// card keeps under load, which its highest clock does not tell.

#include "device/cuda/cuda.h"

#if defined(HEDDLE_SIM_MODULE)

heddle_status heddle_cuda_multiply_add(heddle_stream *stream, double *operations)
{
    (void)stream;
    *operations = 0;
    return heddle_cuda_fail(HEDDLE_UNSUPPORTED, "the simulated GPU reports no timings: there is nothing to measure");
}

#else

enum {
    CHAINS = 16,     // independent sums a thread: more than the units take clocks for one
    STEPS = 1 << 18, // multiplications and additions of a chain
    BLOCK = 256,
    BLOCKS_AN_SM = 4, // 32 warps: each scheduler has 8 to choose from
};

// A sum that the compiler cannot leave out: stored where it could be NaN, which it never is.
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
    if (total != total)
        *never = total;
}

heddle_status heddle_cuda_multiply_add(heddle_stream *stream, double *operations)
{
    int processors = 0;
    HEDDLE_TRY(heddle_cuda_select(stream->device));
    HEDDLE_CUDA_TRY(
        cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, heddle_cuda_index(stream->device)));
    int blocks = processors * BLOCKS_AN_SM;
    multiply_add<<<blocks, BLOCK, 0, heddle_cuda_raw(stream)>>>(0.5f, NULL);
    *operations = 2.0 * CHAINS * STEPS * BLOCK * blocks;
    return HEDDLE_CUDA_CHECK(cudaGetLastError());
}

#endif
