// fft, rung 5: 16 numbers per thread. 1024 = 4 * 16 * 16 takes two exchanges, 256 one. The rung before, with 8 numbers,
// needs three exchanges for 1024, with one more barrier each, and a thread has only 8 loads in flight.
//
// Blocks are small and several fit on an SM, so that some load while others compute. 32 numbers per thread with one
// exchange are no faster: they leave room for fewer threads.
//
// Limited by: memory bandwidth. Every number is read once and written once, and the arithmetic, some 60 instructions
// per number, fits into that time.

#include "device/cuda/check.h"
#include "heddle/ops.h"
#include "ops/cuda/rung.h"
#include "ops/fft/lines.h"
#include "ops/fft/passes.h"

// N numbers per line, V per thread, T lines per block: 128 threads, or more if a single line needs them. BLOCKS of them
// must fit on an SM, which leaves 64 registers per thread: as many as it needs.
template <int N, int V, int T, int BLOCKS> static cudaError_t run(const fft_pass *pass, cudaStream_t stream)
{
    return fft_lines_launch<line_block<N, V, T, BY_ELEMENTS, BY_ELEMENTS>, BLOCKS>(*pass, stream);
}

cudaError_t fft_pass_rows(const fft_pass *pass, int n, cudaStream_t stream)
{
    switch (n) {
    case 32: return run<32, 8, 32, 8>(pass, stream);
    case 64: return run<64, 8, 16, 8>(pass, stream);
    case 128: return run<128, 16, 16, 8>(pass, stream);
    case 256: return run<256, 16, 8, 8>(pass, stream);
    case 512: return run<512, 16, 4, 8>(pass, stream);
    case 1024: return run<1024, 16, 2, 8>(pass, stream);
    case 2048: return run<2048, 16, 1, 8>(pass, stream);
    case 4096: return run<4096, 16, 1, 4>(pass, stream);
    case 8192: return run<8192, 32, 1, 2>(pass, stream); // 8 * 32 * 32; shared memory allows no more
    default: return cudaErrorInvalidValue;
    }
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_fft_shape *shape = (const heddle_fft_shape *)call->shape;
    heddle_fft_job job = heddle_fft_job_of(shape, call->input[0], call->output[0]);
    fft_pass pass = fft_pass_of(&job);
    HEDDLE_CUDA_TRY(fft_pass_rows(&pass, shape->n, heddle_cuda_stream_of(call)));
    return heddle_cuda_launched("05_radix16_registers");
}

HEDDLE_CUDA_RUNG("fft", "05_radix16_registers", launch)
