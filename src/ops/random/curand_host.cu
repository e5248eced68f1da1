// random by cuRAND's host API: heddle's rungs are measured against it, and can produce its order of numbers.
//
// The library takes seed and offset from the host, but the operator's state is on the GPU: it is copied first, and the
// host waits for it. So the call cannot be captured in a graph. Setting the offset makes the library initialise its
// 65536 generators again.
//
// Limited by: stores, once it runs.

#include <curand.h>

#include "device/cuda/check.h"
#include "ops/cuda/handles.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/scratch.h"
#include "ops/cuda/vector.h"
#include "ops/random/numbers.h"

static heddle_status make(void **handle)
{
    return HEDDLE_CUDA_CHECK(curandCreateGenerator((curandGenerator_t *)handle, CURAND_RNG_PSEUDO_PHILOX4_32_10));
}

static heddle_status fetch_state(const heddle_call *call, int64_t state[HEDDLE_RANDOM_STATE])
{
    cudaStream_t stream = heddle_cuda_stream_of(call);
    cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusNone;
    HEDDLE_CUDA_TRY(cudaStreamIsCapturing(stream, &capturing));
    if (capturing != cudaStreamCaptureStatusNone)
        return heddle_cuda_failed(
            HEDDLE_UNSUPPORTED,
            "it cannot be part of a graph, as it waits for the seed, which is on the GPU; take 03_grid_stride there",
            "captured stream", HEDDLE_CUDA_HERE("curand_host"));
    HEDDLE_CUDA_TRY(
        cudaMemcpyAsync(state, call->input[0], HEDDLE_RANDOM_STATE * sizeof *state, cudaMemcpyDeviceToHost, stream));
    HEDDLE_CUDA_TRY(cudaStreamSynchronize(stream));
    if (state[HEDDLE_RANDOM_SEQUENCE] != 0)
        return heddle_cuda_failed(HEDDLE_UNSUPPORTED, "cuRAND's host API begins at sequence 0 and no other", "sequence",
                                  HEDDLE_CUDA_HERE("curand_host"));
    return HEDDLE_OK;
}

static heddle_status generate(curandGenerator_t generator, heddle_random_kind kind, const heddle_random_job *job,
                              void *output, size_t count)
{
    if (kind == HEDDLE_RANDOM_BITS)
        return HEDDLE_CUDA_CHECK(curandGenerate(generator, (unsigned *)output, count));
    if (kind == HEDDLE_RANDOM_UNIFORM)
        return HEDDLE_CUDA_CHECK(curandGenerateUniform(generator, (float *)output, count));
    return HEDDLE_CUDA_CHECK(curandGenerateNormal(generator, (float *)output, count, job->first, job->second));
}

template <heddle_random_kind kind> static heddle_status launch(const heddle_call *call)
{
    const heddle_random_job job = heddle_random_job_of(call, kind);
    const size_t count = ((size_t)job.n + 1) / 2 * 2; // normal numbers come in pairs
    int64_t state[HEDDLE_RANDOM_STATE];
    void *handle = NULL, *output = job.output;
    if (job.n == 0)
        return HEDDLE_OK;
    HEDDLE_TRY(fetch_state(call, state));
    HEDDLE_TRY(heddle_cuda_handle(call, make, &handle));
    curandGenerator_t generator = (curandGenerator_t)handle;
    HEDDLE_CUDA_TRY(curandSetStream(generator, heddle_cuda_stream_of(call)));
    HEDDLE_CUDA_TRY(curandSetPseudoRandomGeneratorSeed(generator, (unsigned long long)state[HEDDLE_RANDOM_SEED]));
    HEDDLE_CUDA_TRY(curandSetGeneratorOffset(generator, (unsigned long long)state[HEDDLE_RANDOM_POSITION]));
    const bool aside = !heddle_aligned16(output) || count != (size_t)job.n; // it stores vectors, and pairs
    if (aside)
        HEDDLE_TRY(heddle_cuda_scratch(call, count * sizeof(float), &output));
    HEDDLE_TRY(generate(generator, kind, &job, output, count));
    if (!aside)
        return HEDDLE_OK;
    return HEDDLE_CUDA_CHECK(cudaMemcpyAsync(job.output, output, (size_t)job.n * sizeof(float),
                                             cudaMemcpyDeviceToDevice, heddle_cuda_stream_of(call)));
}

HEDDLE_CUDA_RUNG("random_bits", "curand_host", launch<HEDDLE_RANDOM_BITS>)
HEDDLE_CUDA_RUNG("random_uniform", "curand_host", launch<HEDDLE_RANDOM_UNIFORM>)
HEDDLE_CUDA_RUNG("random_normal", "curand_host", launch<HEDDLE_RANDOM_NORMAL>)
