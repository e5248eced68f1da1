// The device memory that a job needs beside its operands. The tables use it, and launch.cu lays it out by the same
// functions.

#include "ops/fft/cuda_memory.h"

size_t heddle_fft_cuda_workspace(const heddle_fft_job *job)
{
    return fft_cuda_memory(job).bytes;
}

size_t heddle_fft_cuda_half_workspace(const heddle_fft_job *job)
{
    return heddle_fft_is_fused(job->kind, job->n) ? fft_real_memory(job).bytes : heddle_fft_cuda_workspace(job);
}
