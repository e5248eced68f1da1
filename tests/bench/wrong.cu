// Two rungs of add_forward that are wrong, under the names of right ones: in the tests' module they come first, as does
// one of matmul_host that breaks the device, and one of relu_forward that does not end. And under names of their own a
// right one and two whose time would be a lie.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"

// The last element is not written.
__global__ void skips_the_last(int n, const float *a, const float *b, float *output)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n - 1)
        output[i] = a[i] + b[i];
}

__global__ void zeros(int n, const float *, const float *, float *output)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n)
        output[i] = 0.0f;
}

__global__ void adds(int n, const float *a, const float *b, float *output)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n)
        output[i] = a[i] + b[i];
}

typedef void kernel_type(int n, const float *a, const float *b, float *output);

template <kernel_type *kernel> static heddle_status launch(const heddle_call *call)
{
    int n = ((const heddle_elements_shape *)call->shape)->n;
    if (n > 0)
        kernel<<<heddle_cuda_blocks(n), HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            n, (const float *)call->input[0], (const float *)call->input[1], (float *)call->output[0]);
    return heddle_cuda_launched("wrong");
}

// Sets part of the L2 cache aside, from where a flush would not drive its operands out.
static heddle_status launch_keeping_cache(const heddle_call *call)
{
    const size_t bytes = 1 << 20;
    cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, bytes);
    return launch<adds>(call);
}

__global__ void work_on(float *values)
{
    values[blockIdx.x * blockDim.x + threadIdx.x] = 1.0f;
}

// Does its work where the events of the call's stream do not see it.
static heddle_status launch_elsewhere(const heddle_call *call)
{
    const int blocks = 64;
    static cudaStream_t elsewhere;
    static float *values;
    heddle_cuda_stream_of(call);
    if (!values && (cudaMalloc(&values, blocks * HEDDLE_CUDA_BLOCK * sizeof(float)) != cudaSuccess ||
                    cudaStreamCreateWithFlags(&elsewhere, cudaStreamNonBlocking) != cudaSuccess))
        return heddle_cuda_launched("elsewhere");
    work_on<<<blocks, HEDDLE_CUDA_BLOCK, 0, elsewhere>>>(values);
    return heddle_cuda_launched("elsewhere");
}

__global__ void writes_nowhere(float *nowhere)
{
    *nowhere = 1.0f;
}

// A stray access, from which no device recovers.
static heddle_status launch_astray(const heddle_call *call)
{
    writes_nowhere<<<1, 1, 0, heddle_cuda_stream_of(call)>>>(nullptr);
    return heddle_cuda_launched("astray");
}

// Right for few elements; with more the first thread goes on for centuries.
__global__ void relu_without_end(int n, const float *input, float *output)
{
    const int few = 100;
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    float value = i < n ? fmaxf(input[i], 0.0f) : 0.0f;
    for (unsigned long long step = 0; n > few && i == 0 && step < ~0ull; step++)
        value = value * 1.5f + 1.0f / value;
    if (i < n)
        output[i] = value;
}

static heddle_status launch_without_end(const heddle_call *call)
{
    int n = ((const heddle_elements_shape *)call->shape)->n;
    relu_without_end<<<heddle_cuda_blocks(n), HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
        n, (const float *)call->input[0], (float *)call->output[0]);
    return heddle_cuda_launched("without end");
}

HEDDLE_CUDA_RUNG("matmul_host", "01_one_stream", launch_astray)
HEDDLE_CUDA_RUNG("relu_forward", "01_naive", launch_without_end)
HEDDLE_CUDA_RUNG("add_forward", "honest", launch<adds>)
HEDDLE_CUDA_RUNG("add_forward", "keeps_cache", launch_keeping_cache)
HEDDLE_CUDA_RUNG("add_forward", "elsewhere", launch_elsewhere)
HEDDLE_CUDA_RUNG("add_forward", "03_grid", launch<skips_the_last>)
HEDDLE_CUDA_RUNG("add_forward", "04_grid_stride", launch<zeros>)
