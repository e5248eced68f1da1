// fft, rung 8: lengths with prime factors other than 2, 3, 5 and 7, for which the rungs before have no radix. As q k =
// (q² + k² - (k - q)²) / 2, a transform of n numbers is a convolution with exp(πi q² / n). A convolution is two
// transforms of any length from 2 n - 1 on, with a product between them: a power of two works, which the rungs before
// do fast.
//
// The chirp exp(πi q² / n) is one more line of the first transform.
//
// Limited by: memory bandwidth: two to four times the numbers, and ten passes through memory.

#include "device/cuda/check.h"
#include "heddle/ops.h"
#include "ops/cuda/rung.h"
#include "ops/fft/butterflies.h"
#include "ops/fft/cuda_memory.h"
#include "ops/fft/launch.h"
#include "ops/fft/passes.h"
#include "ops/fft/roots.h"

// exp(-πi q² / n)
__device__ static inline float2 chirp(unsigned q, unsigned n)
{
    return fft_root((unsigned)((unsigned long long)q * q % (2 * n)), 2 * n);
}

// numbers: (1 + lines, length): the conjugate chirp, forwards and backwards from its start, then input times the chirp;
// the rest is zero.
__global__ void bluestein_spread(int n, long long lines, long long length, float sign, const float *input,
                                 float2 *numbers)
{
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= (1 + lines) * length)
        return;
    long long line = at / length, q = at % length;
    float2 value = make_float2(0, 0);
    if (line == 0 && (q < n || length - q < n)) {
        value = chirp((unsigned)(q < n ? q : length - q), n);
        value.y = -value.y;
    } else if (line > 0 && q < n) {
        const float *from = input + 2 * ((line - 1) * n + q);
        value = complex_multiply(make_float2(from[0], sign * from[1]), chirp((unsigned)q, n));
    }
    numbers[at] = value;
}

// Multiplies every other line by the first, which is the chirp's spectrum.
__global__ void bluestein_multiply(long long lines, long long length, float2 *numbers)
{
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at < lines * length)
        numbers[length + at] = complex_multiply(numbers[length + at], numbers[at % length]);
}

__global__ void bluestein_gather(int n, long long lines, long long length, float sign, float scale,
                                 const float2 *numbers, float *output)
{
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= lines * n)
        return;
    long long line = at / n, k = at % n;
    float2 value = complex_multiply(numbers[(1 + line) * length + k], chirp((unsigned)k, n));
    output[2 * at] = scale * value.x;
    output[2 * at + 1] = scale * sign * value.y;
}

static cudaError_t run_chunk(const heddle_fft_job *job, const fft_memory &memory, long long start, char *workspace,
                             cudaStream_t stream)
{
    long long length = fft_bluestein_length(job->n), rest = job->lines - start;
    long long lines = rest < memory.chunk ? rest : memory.chunk;
    float sign = job->inverse ? -1.0f : 1.0f;
    float2 *numbers = (float2 *)workspace;
    bluestein_spread<<<heddle_cuda_blocks((1 + lines) * length), HEDDLE_CUDA_BLOCK, 0, stream>>>(
        job->n, lines, length, sign, job->input + 2 * start * job->n, numbers);
    heddle_fft_job there =
        heddle_fft_rows(HEDDLE_FFT_COMPLEX, (int)length, 1 + lines, false, (float *)numbers, (float *)numbers);
    cudaError_t error = heddle_fft_launch(&there, workspace + memory.first, stream);
    if (error != cudaSuccess)
        return error;
    bluestein_multiply<<<heddle_cuda_blocks(lines * length), HEDDLE_CUDA_BLOCK, 0, stream>>>(lines, length, numbers);
    float *behind = (float *)(numbers + length);
    heddle_fft_job back = heddle_fft_rows(HEDDLE_FFT_COMPLEX, (int)length, lines, true, behind, behind);
    back.scale = 1.0f / (float)length;
    error = heddle_fft_launch(&back, workspace + memory.first, stream);
    if (error != cudaSuccess)
        return error;
    bluestein_gather<<<heddle_cuda_blocks(lines * job->n), HEDDLE_CUDA_BLOCK, 0, stream>>>(
        job->n, lines, length, sign, job->scale, numbers, job->output + 2 * start * job->n);
    return cudaPeekAtLastError();
}

cudaError_t fft_launch_bluestein(const heddle_fft_job *job, void *workspace, cudaStream_t stream)
{
    fft_memory memory = fft_complex_memory(job->n, job->lines);
    cudaError_t error = cudaSuccess;
    for (long long start = 0; start < job->lines && error == cudaSuccess; start += memory.chunk)
        error = run_chunk(job, memory, start, (char *)workspace, stream);
    return error;
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_fft_shape *shape = (const heddle_fft_shape *)call->shape;
    heddle_fft_job job = heddle_fft_job_of(shape, call->input[0], call->output[0]);
    HEDDLE_CUDA_TRY(fft_launch_bluestein(&job, call->workspace, heddle_cuda_stream_of(call)));
    return heddle_cuda_launched("08_bluestein");
}

HEDDLE_CUDA_RUNG("fft", "08_bluestein", launch)
