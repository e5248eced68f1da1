// fft, rfft and fft2d by cuFFT: heddle's rungs are measured against it.
//
// Plans take longer to make than to run, and are cached: one for each GPU, thread, stream and shape. Their work area is
// the stream's scratch memory. cuFFT needs complex numbers aligned to 8 bytes; unaligned operands go through scratch
// memory too. So does the input of a transform to real numbers: cuFFT overwrites it, and an operator must not change
// its inputs.
//
// Limited by: memory bandwidth.

#include <cufft.h>
#include <pthread.h>
#include <stdlib.h>

#include "device/cuda/check.h"
#include "device/cuda/cuda.h"
#include "heddle/ops.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/scratch.h"

typedef struct kept_plan {
    int device;
    pthread_t thread;
    cudaStream_t stream;
    cufftType type;
    int rank;
    long long lengths[2], batch;
    cufftHandle handle;
    size_t work_bytes;
    struct kept_plan *next;
} kept_plan;

static kept_plan *kept;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool is_same(const kept_plan *a, const kept_plan *b)
{
    return a->device == b->device && pthread_equal(a->thread, b->thread) && a->stream == b->stream &&
           a->type == b->type && a->rank == b->rank && a->lengths[0] == b->lengths[0] &&
           a->lengths[1] == b->lengths[1] && a->batch == b->batch;
}

static heddle_status set_plan(kept_plan *plan)
{
    HEDDLE_CUDA_TRY(cufftSetAutoAllocation(plan->handle, 0));
    HEDDLE_CUDA_TRY(cufftMakePlanMany64(plan->handle, plan->rank, plan->lengths, NULL, 1, 0, NULL, 1, 0, plan->type,
                                        plan->batch, &plan->work_bytes));
    return HEDDLE_CUDA_CHECK(cufftSetStream(plan->handle, plan->stream));
}

static heddle_status make_plan(kept_plan *plan)
{
    HEDDLE_CUDA_TRY(cufftCreate(&plan->handle));
    heddle_status status = set_plan(plan);
    if (status != HEDDLE_OK)
        cufftDestroy(plan->handle);
    return status;
}

// The cached plan that equals `wanted`, created if there is none.
static heddle_status find_plan(const kept_plan *wanted, kept_plan **plan)
{
    pthread_mutex_lock(&lock);
    kept_plan *one = kept;
    while (one && !is_same(one, wanted))
        one = one->next;
    pthread_mutex_unlock(&lock);
    *plan = one;
    if (one)
        return HEDDLE_OK;
    one = (kept_plan *)malloc(sizeof *one);
    if (!one)
        return heddle_cuda_failed(HEDDLE_OUT_OF_MEMORY, "no memory for a plan of cuFFT", "malloc",
                                  HEDDLE_CUDA_HERE("malloc"));
    *one = *wanted;
    // Making a plan allocates, which a capture of this thread would not allow.
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    cudaThreadExchangeStreamCaptureMode(&mode);
    heddle_status status = make_plan(one);
    cudaThreadExchangeStreamCaptureMode(&mode);
    if (status != HEDDLE_OK) {
        free(one);
        return status;
    }
    pthread_mutex_lock(&lock);
    one->next = kept;
    kept = *plan = one;
    pthread_mutex_unlock(&lock);
    return HEDDLE_OK;
}

static heddle_status execute(const kept_plan *plan, bool inverse, void *input, void *output)
{
    switch (plan->type) {
    case CUFFT_R2C: return HEDDLE_CUDA_CHECK(cufftExecR2C(plan->handle, (cufftReal *)input, (cufftComplex *)output));
    case CUFFT_C2R: return HEDDLE_CUDA_CHECK(cufftExecC2R(plan->handle, (cufftComplex *)input, (cufftReal *)output));
    default:
        return HEDDLE_CUDA_CHECK(cufftExecC2C(plan->handle, (cufftComplex *)input, (cufftComplex *)output,
                                              inverse ? CUFFT_INVERSE : CUFFT_FORWARD));
    }
}

static size_t rounded(size_t bytes)
{
    return (bytes + 255) / 256 * 256; // where pieces of memory begin
}

static bool is_aligned(const void *memory)
{
    return (size_t)memory % sizeof(cufftComplex) == 0;
}

static heddle_status run(const heddle_call *call, kept_plan wanted, bool inverse, size_t input_bytes,
                         size_t output_bytes)
{
    kept_plan *plan;
    void *work = NULL, *input = (void *)call->input[0], *output = call->output[0];
    bool copy_input = !is_aligned(input) || wanted.type == CUFFT_C2R, copy_output = !is_aligned(output);
    if (wanted.batch == 0)
        return HEDDLE_OK;
    wanted.stream = heddle_cuda_stream_of(call);
    wanted.device = heddle_cuda_device_of(call);
    wanted.thread = pthread_self();
    HEDDLE_TRY(find_plan(&wanted, &plan));
    size_t input_at = rounded(plan->work_bytes), output_at = input_at + (copy_input ? rounded(input_bytes) : 0);
    HEDDLE_TRY(heddle_cuda_scratch(call, output_at + (copy_output ? output_bytes : 0), &work));
    HEDDLE_CUDA_TRY(cufftSetWorkArea(plan->handle, work));
    void *from = copy_input ? (char *)work + input_at : input, *to = copy_output ? (char *)work + output_at : output;
    if (copy_input)
        HEDDLE_CUDA_TRY(cudaMemcpyAsync(from, input, input_bytes, cudaMemcpyDeviceToDevice, wanted.stream));
    HEDDLE_TRY(execute(plan, inverse, from, to));
    if (copy_output)
        HEDDLE_CUDA_TRY(cudaMemcpyAsync(output, to, output_bytes, cudaMemcpyDeviceToDevice, wanted.stream));
    return HEDDLE_OK;
}

static kept_plan plan_of(cufftType type, int rank, int batch, int first, int second)
{
    kept_plan plan = {};
    plan.type = type;
    plan.rank = rank;
    plan.batch = batch;
    plan.lengths[0] = first;
    plan.lengths[1] = second;
    return plan;
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_fft_shape *shape = (const heddle_fft_shape *)call->shape;
    size_t bytes = sizeof(cufftComplex) * (size_t)shape->batch * shape->n;
    return run(call, plan_of(CUFFT_C2C, 1, shape->batch, shape->n, 0), shape->inverse != 0, bytes, bytes);
}

static heddle_status launch_real(const heddle_call *call)
{
    const heddle_fft_shape *shape = (const heddle_fft_shape *)call->shape;
    size_t real = sizeof(float) * (size_t)shape->batch * shape->n;
    size_t half = sizeof(cufftComplex) * (size_t)shape->batch * (shape->n / 2 + 1);
    return run(call, plan_of(shape->inverse ? CUFFT_C2R : CUFFT_R2C, 1, shape->batch, shape->n, 0), false,
               shape->inverse ? half : real, shape->inverse ? real : half);
}

static heddle_status launch_2d(const heddle_call *call)
{
    const heddle_fft2d_shape *shape = (const heddle_fft2d_shape *)call->shape;
    size_t bytes = sizeof(cufftComplex) * (size_t)shape->batch * shape->h * shape->w;
    return run(call, plan_of(CUFFT_C2C, 2, shape->batch, shape->h, shape->w), shape->inverse != 0, bytes, bytes);
}

HEDDLE_CUDA_RUNG("fft", "cufft", launch)
HEDDLE_CUDA_RUNG("rfft", "cufft", launch_real)
HEDDLE_CUDA_RUNG("fft2d", "cufft", launch_2d)
