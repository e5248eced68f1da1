// What a job needs of device memory beside its operands. The tables ask here, and launch.cu lays it out by the same
// functions.

#include "ops/fft/cuda_memory.h"

size_t heddle_fft_cuda_workspace(const heddle_fft_job *job)
{
    return fft_cuda_memory(job).bytes;
}
