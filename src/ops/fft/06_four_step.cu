// fft, rung 6: a line too long for a block, n = rows * columns, as a matrix. Columns are transformed, every number is
// multiplied by its own root, and rows are transformed. A block has 8 to 32 adjacent lines each time, so that memory is
// read and written at least 64 bytes at a time. The rung before handles lines that fit in a block. The radix-2 rung,
// which handles this too, took log2 n passes through memory; here two passes suffice up to 1024 * 1024, and three up to
// 2^30.
//
// Limited by: memory bandwidth, twice the traffic of a single pass; and 64-byte pieces, half of what the L2 cache
// fetches.

#include "device/cuda/check.h"
#include "heddle/ops.h"
#include "ops/cuda/rung.h"
#include "ops/fft/cuda_memory.h"
#include "ops/fft/lines.h"
#include "ops/fft/passes.h"

// N numbers per line, V per thread, T adjacent lines per block: 32 if they are short, 8 if shared memory is full.
// BLOCKS of them must fit on an SM: as many as shared memory or registers allow.
template <int N, int V, int T, int BLOCKS> static cudaError_t columns(const fft_pass *pass, cudaStream_t stream)
{
    return fft_lines_launch<line_block<N, V, T, BY_LINES, BY_LINES>, BLOCKS>(*pass, stream);
}

template <int N, int V, int T, int BLOCKS> static cudaError_t to_rows(const fft_pass *pass, cudaStream_t stream)
{
    return fft_lines_launch<line_block<N, V, T, BY_LINES, BY_ELEMENTS>, BLOCKS>(*pass, stream);
}

cudaError_t fft_pass_columns(const fft_pass *pass, int n, cudaStream_t stream)
{
    switch (n) {
    case 32: return columns<32, 8, 32, 2>(pass, stream);
    case 64: return columns<64, 16, 32, 2>(pass, stream);
    case 128: return columns<128, 16, 16, 4>(pass, stream);
    case 256: return columns<256, 16, 8, 5>(pass, stream);
    case 512: return columns<512, 32, 16, 2>(pass, stream);
    case 1024: return columns<1024, 32, 8, 2>(pass, stream);
    case 2048: return columns<2048, 32, 4, 2>(pass, stream);
    case 4096: return columns<4096, 32, 2, 2>(pass, stream);
    default: return cudaErrorInvalidValue;
    }
}

cudaError_t fft_pass_columns_to_rows(const fft_pass *pass, int n, cudaStream_t stream)
{
    switch (n) {
    case 64: return to_rows<64, 16, 32, 2>(pass, stream);
    case 128: return to_rows<128, 16, 16, 4>(pass, stream);
    case 256: return to_rows<256, 16, 8, 5>(pass, stream);
    case 512: return to_rows<512, 32, 16, 2>(pass, stream);
    case 1024: return to_rows<1024, 32, 8, 2>(pass, stream);
    default: return cudaErrorInvalidValue;
    }
}

static cudaError_t run_pass(const fft_pass *pass, int n, bool first, cudaStream_t stream)
{
    if (!fft_is_for_registers(n))
        return fft_pass_registers(pass, n, HEDDLE_FFT_COMPLEX, stream);
    if (first && n >= 64)
        return fft_pass_columns_to_rows(pass, n, stream);
    return fft_pass_columns(pass, n, stream);
}

// Lines of a job from `start` on, at most memory.chunk of them.
static cudaError_t run_chunk(const heddle_fft_job *job, const fft_memory &memory, long long start, char *workspace,
                             cudaStream_t stream)
{
    long long lines = job->lines - start < memory.chunk ? job->lines - start : memory.chunk;
    float *buffers[2] = {(float *)workspace, (float *)(workspace + memory.first)};
    const bool real = job->kind == HEDDLE_FFT_TO_HALF; // pairs of reals, taken apart by the last pass
    const int n = real ? job->n / 2 : job->n;
    const float *from = job->input + 2 * start * n;
    float *output = job->output + 2 * start * (real ? n + 1 : n);
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < memory.plan.count && error == cudaSuccess; i++) {
        bool first = i == 0, last = i == memory.plan.count - 1;
        fft_pass pass = fft_pass_of(job);
        fft_pass_lines(&memory.plan, i, n, &pass.from, &pass.to);
        pass.input = from;
        pass.output = last ? output : buffers[i % 2];
        pass.lines = (unsigned)(lines * (n / memory.plan.factor[i]));
        pass.modulus = first ? 0 : (unsigned)(pass.to.inner * memory.plan.factor[i]);
        pass.input_sign = first ? pass.input_sign : 1;
        pass.output_sign = last ? pass.output_sign : 1;
        pass.scale = last ? pass.scale : 1;
        error = last && real ? fft_pass_apart(&pass, memory.plan.factor[i], stream)
                             : run_pass(&pass, memory.plan.factor[i], first, stream);
        from = pass.output;
    }
    return error;
}

cudaError_t fft_launch_passes(const heddle_fft_job *job, void *workspace, cudaStream_t stream)
{
    fft_memory memory = fft_smooth_memory(job->kind == HEDDLE_FFT_TO_HALF ? job->n / 2 : job->n, job->lines);
    cudaError_t error = cudaSuccess;
    for (long long start = 0; start < job->lines && error == cudaSuccess; start += memory.chunk)
        error = run_chunk(job, memory, start, (char *)workspace, stream);
    return error;
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_fft_shape *shape = (const heddle_fft_shape *)call->shape;
    heddle_fft_job job = heddle_fft_job_of(shape, call->input[0], call->output[0]);
    HEDDLE_CUDA_TRY(fft_launch_passes(&job, call->workspace, heddle_cuda_stream_of(call)));
    return heddle_cuda_launched("06_four_step");
}

HEDDLE_CUDA_RUNG("fft", "06_four_step", launch)
