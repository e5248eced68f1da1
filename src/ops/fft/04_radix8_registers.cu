// fft, rung 4: 8 numbers per thread in registers, so that three stages become one, without a barrier. Instead of log2 n
// trips through shared memory there are a third as many, minus one: 1024 = 2 * 8 * 8 * 8 takes three exchanges.
//
// Limited by: those exchanges, each of which ends with a barrier for all threads of a line, and the sines of three
// stages.

#include "device/cuda/check.h"
#include "heddle/ops.h"
#include "ops/cuda/rung.h"
#include "ops/fft/lines.h"
#include "ops/fft/passes.h"

enum { NUMBERS = 8, THREADS = 256 }; // per thread, per block

// As many lines as fill a block.
template <int N> static cudaError_t run(const fft_pass &pass, cudaStream_t stream)
{
    enum { GROUP = N / NUMBERS, LINES = GROUP < THREADS ? THREADS / GROUP : 1 };
    return fft_lines_launch<line_block<N, NUMBERS, LINES, BY_ELEMENTS, BY_ELEMENTS>, 1>(pass, stream);
}

static cudaError_t run_any(const fft_pass &pass, int n, cudaStream_t stream)
{
    switch (n) {
    case 32: return run<32>(pass, stream);
    case 64: return run<64>(pass, stream);
    case 128: return run<128>(pass, stream);
    case 256: return run<256>(pass, stream);
    case 512: return run<512>(pass, stream);
    case 1024: return run<1024>(pass, stream);
    case 2048: return run<2048>(pass, stream);
    default: return run<4096>(pass, stream);
    }
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_fft_shape *shape = (const heddle_fft_shape *)call->shape;
    heddle_fft_job job = heddle_fft_job_of(shape, call->input[0], call->output[0]);
    fft_pass pass = fft_pass_of(&job);
    HEDDLE_CUDA_TRY(run_any(pass, shape->n, heddle_cuda_stream_of(call)));
    return heddle_cuda_launched("04_radix8_registers");
}

HEDDLE_CUDA_RUNG("fft", "04_radix8_registers", launch)
