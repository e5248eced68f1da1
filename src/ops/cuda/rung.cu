// The list of a module's rungs.

#include "ops/cuda/rung.h"

#include <pthread.h>
#include <string.h>

#include "device/cuda/cuda.h"

static heddle_cuda_rung *rungs;
// Vendors' modules register while other threads look up.
static pthread_mutex_t joining = PTHREAD_MUTEX_INITIALIZER;

void heddle_cuda_rung_add(heddle_cuda_rung *rung)
{
    pthread_mutex_lock(&joining);
    rung->next = rungs;
    rungs = rung;
    pthread_mutex_unlock(&joining);
}

static heddle_launcher *find(const char *op, const char *rung)
{
    pthread_mutex_lock(&joining);
    heddle_cuda_rung *one = rungs;
    while (one && (strcmp(one->op, op) != 0 || strcmp(one->rung, rung) != 0))
        one = one->next;
    pthread_mutex_unlock(&joining);
    return one ? one->launch : NULL;
}

heddle_launcher *heddle_cuda_launcher(const char *op, const char *rung)
{
    heddle_launcher *found = find(op, rung);
    if (found)
        return found;
    heddle_cuda_load_vendors();
    return find(op, rung);
}

cudaStream_t heddle_cuda_stream_of(const heddle_call *call)
{
    cudaSetDevice(heddle_cuda_index(call->stream->device)); // the launch, which is checked, would fail too
    return heddle_cuda_raw(call->stream);
}

int heddle_cuda_device_of(const heddle_call *call)
{
    return heddle_cuda_index(call->stream->device);
}

heddle_status heddle_cuda_launched(const char *rung)
{
    cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess)
        return HEDDLE_OK;
    return heddle_cuda_fail(HEDDLE_DEVICE, "rung %s could not be launched: %s (%s)", rung, cudaGetErrorString(error),
                            cudaGetErrorName(error));
}

int heddle_cuda_multiprocessors(void)
{
    int device = 0, count = 1;
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device) != cudaSuccess)
        cudaGetLastError();
    return count;
}
