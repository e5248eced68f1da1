// sum and mean, rung 6: the grid fills the GPU once, and each thread adds many elements with 16-byte loads.
//
// Rung 5 built a tree for every 256 elements, on four levels. Here a thread first adds all its elements in a register,
// sixteen floats at a time from four loads in flight. Each block builds one tree, and a second, small kernel adds the
// sums of the blocks. Backward, a thread stores 16 bytes at a time.
//
// Limited by: memory bandwidth. The input is read once, and little else moves.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/vector.h"

enum {
    THREADS = 512,
    WARP = 32,
    WARPS = THREADS / WARP,
    BLOCKS_AN_SM = 4, // 2048 threads: the most an SM holds
    LOADS = 4,        // in flight at once, per thread
    TILE = THREADS * LOADS * HEDDLE_VECTOR,
};
static const unsigned ALL_LANES = 0xffffffffu;

__device__ static float warp_sum(float value)
{
    for (int distance = WARP / 2; distance > 0; distance /= 2)
        value += __shfl_down_sync(ALL_LANES, value, distance);
    return value;
}

// Sum over all threads, in thread 0.
__device__ static float block_sum(float value)
{
    __shared__ float of_warp[WARPS];
    int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    value = warp_sum(value);
    if (lane == 0)
        of_warp[warp] = value;
    __syncthreads();
    return warp == 0 ? warp_sum(lane < WARPS ? of_warp[lane] : 0) : 0;
}

// What a whole tile adds to the thread's sum. All loads are issued before the first addition.
template <bool aligned> __device__ static float tile_sum(const float *tile)
{
    float4 value[LOADS];
#pragma unroll
    for (int i = 0; i < LOADS; i++)
        value[i] = heddle_load4<aligned>(tile + HEDDLE_VECTOR * (threadIdx.x + i * THREADS));
    float sum = 0;
#pragma unroll
    for (int i = 0; i < LOADS; i++)
        sum += (value[i].x + value[i].y) + (value[i].z + value[i].w);
    return sum;
}

// input: (n), sums: (gridDim.x)
template <bool aligned>
__global__ void __launch_bounds__(THREADS) sum_vectorised(int n, float divisor, const float *input, float *sums)
{
    float sum = 0;
    long long tiles = n / TILE;
    for (long long tile = blockIdx.x; tile < tiles; tile += gridDim.x)
        sum += tile_sum<aligned>(input + tile * TILE);
    if (blockIdx.x == 0) // the elements that no whole tile covers
        for (long long i = tiles * TILE + threadIdx.x; i < n; i += THREADS)
            sum += input[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        sums[blockIdx.x] = sum / divisor;
}

// grad_output: (1), grad_input: (n)
template <bool aligned>
__global__ void spread_vectorised(int n, float divisor, const float *grad_output, float *grad_input)
{
    size_t first = HEDDLE_VECTOR * ((size_t)blockIdx.x * blockDim.x + threadIdx.x);
    float grad = *grad_output / divisor;
    if (first + HEDDLE_VECTOR <= (size_t)n)
        heddle_store4<aligned>(grad_input + first, make_float4(grad, grad, grad, grad));
    else
        for (size_t i = first; i < (size_t)n; i++)
            grad_input[i] = grad;
}

static void add_up(int n, float divisor, const float *input, float *sums, unsigned blocks, cudaStream_t stream)
{
    (heddle_aligned16(input) ? sum_vectorised<true>
                             : sum_vectorised<false>)<<<blocks, THREADS, 0, stream>>>(n, divisor, input, sums);
}

static heddle_status forward(const heddle_call *call, float divisor)
{
    int n = ((const heddle_elements_shape *)call->shape)->n;
    const float *input = (const float *)call->input[0];
    float *output = (float *)call->output[0], *sums = (float *)call->workspace;
    unsigned tiles = (unsigned)(n / TILE), most = BLOCKS_AN_SM * heddle_cuda_multiprocessors();
    unsigned blocks = tiles < most ? tiles : most;
    if (blocks > 1) {
        add_up(n, 1.0f, input, sums, blocks, heddle_cuda_stream_of(call));
        n = (int)blocks;
        input = sums;
    }
    add_up(n, divisor, input, output, 1, heddle_cuda_stream_of(call));
    return heddle_cuda_launched("06_vectorised");
}

static heddle_status backward(const heddle_call *call, float divisor)
{
    int n = ((const heddle_elements_shape *)call->shape)->n;
    float *grad_input = (float *)call->output[0];
    unsigned blocks = heddle_cuda_blocks(heddle_ceil_div(n, HEDDLE_VECTOR));
    if (blocks > 0)
        (heddle_aligned16(grad_input)
             ? spread_vectorised<true>
             : spread_vectorised<false>)<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            n, divisor, (const float *)call->input[0], grad_input);
    return heddle_cuda_launched("06_vectorised");
}

static float elements(const heddle_call *call)
{
    return (float)((const heddle_elements_shape *)call->shape)->n;
}

static heddle_status launch_sum_forward(const heddle_call *call)
{
    return forward(call, 1.0f);
}

static heddle_status launch_mean_forward(const heddle_call *call)
{
    return forward(call, elements(call));
}

static heddle_status launch_sum_backward(const heddle_call *call)
{
    return backward(call, 1.0f);
}

static heddle_status launch_mean_backward(const heddle_call *call)
{
    return backward(call, elements(call));
}

HEDDLE_CUDA_RUNG("sum_forward", "06_vectorised", launch_sum_forward)
HEDDLE_CUDA_RUNG("mean_forward", "06_vectorised", launch_mean_forward)
HEDDLE_CUDA_RUNG("sum_backward", "06_vectorised", launch_sum_backward)
HEDDLE_CUDA_RUNG("mean_backward", "06_vectorised", launch_mean_backward)
