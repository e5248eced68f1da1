// How a job is run on a GPU, and the layout of its workspace: shared by the tables, which state its size, and
// launch.cu, which uses it.
#pragma once

#include "ops/fft/plan.h"

enum {
    // A line of a pass that is one of several. 8 of them are adjacent in memory, where 8 numbers are 64 bytes, and in a
    // block's shared memory, which holds twice 64 KiB.
    FFT_LONGEST_PASS = 1024,
    FFT_MEMORY_ALIGNMENT = 256,
};

// Numbers that go through all passes together: 512 MiB, which bounds the buffers between them. Fewer, that would stay
// in the L2 cache, are slower: their kernels end before they have filled the GPU.
static const long long fft_chunk_numbers = 64 << 20;

typedef enum fft_way {
    FFT_BY_ONE_KERNEL,
    FFT_BY_PASSES,    // workspace: one or two buffers between passes
    FFT_BY_BLUESTEIN, // the chirp's spectrum and lines of a power of two; then their own workspace
    FFT_BY_HALF,      // real, n even: n / 2 complex numbers per line; then their own workspace
    FFT_BY_WHOLE,     // real, n odd: n complex numbers per line; then their own workspace
} fft_way;

typedef struct fft_memory {
    fft_way way;
    fft_plan plan;      // of passes
    long long chunk;    // lines that are handled at a time
    size_t first, rest; // bytes of the first part and of what follows
    size_t bytes;
} fft_memory;

static inline size_t fft_number_bytes(long long numbers)
{
    size_t bytes = 2 * sizeof(float) * (size_t)numbers;
    return (bytes + FFT_MEMORY_ALIGNMENT - 1) / FFT_MEMORY_ALIGNMENT * FFT_MEMORY_ALIGNMENT;
}

static inline long long fft_chunk_of(long long n, long long lines)
{
    long long chunk = fft_chunk_numbers / n > 1 ? fft_chunk_numbers / n : 1;
    return chunk < lines ? chunk : lines;
}

static inline fft_memory fft_smooth_memory(int n, long long lines)
{
    fft_memory memory = {FFT_BY_ONE_KERNEL, {0, {0}}, lines, 0, 0, 0};
    if (n <= HEDDLE_FFT_ONE_KERNEL || n == HEDDLE_FFT_ONE_ROW)
        return memory;
    memory.way = FFT_BY_PASSES;
    memory.plan = fft_plan_of(n, FFT_LONGEST_PASS);
    memory.chunk = fft_chunk_of(n, lines);
    memory.first = fft_number_bytes(memory.chunk * n);
    memory.rest = memory.plan.count > 2 ? memory.first : 0;
    memory.bytes = memory.first + memory.rest;
    return memory;
}

static inline fft_memory fft_complex_memory(int n, long long lines)
{
    if (heddle_fft_is_smooth(n))
        return fft_smooth_memory(n, lines);
    fft_memory memory = {FFT_BY_BLUESTEIN, {0, {0}}, 0, 0, 0, 0};
    long long length = fft_bluestein_length(n);
    memory.chunk = fft_chunk_of(length, lines);
    memory.first = fft_number_bytes((memory.chunk + 1) * length);
    memory.rest = fft_smooth_memory((int)length, memory.chunk + 1).bytes;
    memory.bytes = memory.first + memory.rest;
    return memory;
}

// Of real lines that are transformed as complex ones and then, or before, pass through memory once more.
static inline fft_memory fft_real_memory(const heddle_fft_job *job)
{
    fft_memory memory = {FFT_BY_ONE_KERNEL, {0, {0}}, job->lines, 0, 0, 0};
    int n = job->n % 2 == 0 ? job->n / 2 : job->n;
    memory.way = job->n % 2 == 0 ? FFT_BY_HALF : FFT_BY_WHOLE;
    memory.first = fft_number_bytes(job->lines * n);
    memory.rest = fft_complex_memory(n, job->lines).bytes;
    memory.bytes = memory.first + memory.rest;
    return memory;
}

static inline fft_memory fft_cuda_memory(const heddle_fft_job *job)
{
    const fft_memory none = {FFT_BY_ONE_KERNEL, {0, {0}}, job->lines, 0, 0, 0};
    if (job->kind == HEDDLE_FFT_COMPLEX)
        return fft_complex_memory(job->n, job->lines);
    if (heddle_fft_is_one_kernel(job->kind, job->n))
        return none;
    return heddle_fft_is_fused(job->kind, job->n) ? fft_smooth_memory(job->n / 2, job->lines) : fft_real_memory(job);
}
