// rfft, rung 2: reals as complex numbers with zero imaginary parts, by the rungs of fft. The naive rung does n products
// per number, these log2 n.
//
// Limited by: memory bandwidth and work, twice what is needed: half of the input is zero, and half of the output is
// discarded.

#include "device/cuda/check.h"
#include "heddle/ops.h"
#include "ops/cuda/rung.h"
#include "ops/fft/cuda_memory.h"
#include "ops/fft/half.h"
#include "ops/fft/launch.h"

// input: (lines, n), numbers: (lines, n) complex
__global__ void real_to_complex(size_t count, const float *input, float2 *numbers)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at < count)
        numbers[at] = make_float2(input[at], 0);
}

// numbers: (lines, n) complex, output: (lines, n / 2 + 1) complex
__global__ void keep_half(size_t lines, int n, float scale, const float2 *numbers, float *output)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x, half = n / 2 + 1;
    if (at >= lines * half)
        return;
    float2 value = numbers[at / half * n + at % half];
    output[2 * at] = scale * value.x;
    output[2 * at + 1] = scale * value.y;
}

// input: (lines, n / 2 + 1) complex, numbers: (lines, n) complex, the second half the first's conjugates
__global__ void half_to_whole(size_t lines, int n, const float *input, float2 *numbers)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= lines * n)
        return;
    int k = (int)(at % n), from = k <= n / 2 ? k : n - k;
    const float *x = input + 2 * (at / n * (n / 2 + 1) + from);
    float imaginary = from == 0 || 2 * from == n ? 0 : x[1];
    numbers[at] = make_float2(x[0], k == from ? imaginary : -imaginary);
}

// numbers: (lines, n) complex, output: (lines, n)
__global__ void keep_real(size_t count, float scale, const float2 *numbers, float *output)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at < count)
        output[at] = scale * numbers[at].x;
}

cudaError_t fft_launch_by_whole(const heddle_fft_job *job, void *workspace, cudaStream_t stream)
{
    size_t lines = (size_t)job->lines, count = lines * job->n;
    float2 *numbers = (float2 *)workspace;
    bool back = job->kind == HEDDLE_FFT_OF_HALF;
    unsigned blocks = heddle_cuda_blocks(count), half_blocks = heddle_cuda_blocks(lines * (job->n / 2 + 1));
    if (back)
        half_to_whole<<<blocks, HEDDLE_CUDA_BLOCK, 0, stream>>>(lines, job->n, job->input, numbers);
    else
        real_to_complex<<<blocks, HEDDLE_CUDA_BLOCK, 0, stream>>>(count, job->input, numbers);
    heddle_fft_job complex =
        heddle_fft_rows(HEDDLE_FFT_COMPLEX, job->n, job->lines, back, (float *)numbers, (float *)numbers);
    cudaError_t error = heddle_fft_launch(&complex, (char *)workspace + fft_number_bytes((long long)count), stream);
    if (error != cudaSuccess)
        return error;
    if (back)
        keep_real<<<blocks, HEDDLE_CUDA_BLOCK, 0, stream>>>(count, job->scale, numbers, job->output);
    else
        keep_half<<<half_blocks, HEDDLE_CUDA_BLOCK, 0, stream>>>(lines, job->n, job->scale, numbers, job->output);
    return cudaPeekAtLastError();
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_fft_shape *shape = (const heddle_fft_shape *)call->shape;
    heddle_fft_job job = heddle_rfft_job_of(shape, call->input[0], call->output[0]);
    if (shape->batch > 0)
        HEDDLE_CUDA_TRY(fft_launch_by_whole(&job, call->workspace, heddle_cuda_stream_of(call)));
    return heddle_cuda_launched("02_as_complex");
}

HEDDLE_CUDA_RUNG("rfft", "02_as_complex", launch)
