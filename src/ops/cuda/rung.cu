// The list of a module's rungs.

#include "ops/cuda/rung.h"

#include <pthread.h>
#include <string.h>

#include "device/cuda/cuda.h"

// Every launch looks its rung up, among hundreds: by a hash of the two names.
enum { LISTS = 512 };
static heddle_cuda_rung *rungs[LISTS];
// Vendors' modules register while other threads look up.
static pthread_mutex_t joining = PTHREAD_MUTEX_INITIALIZER;

static heddle_cuda_rung **list_of(const char *op, const char *rung)
{
    unsigned hash = 0;
    for (const char *letter = op; *letter; letter++)
        hash = 31 * hash + (unsigned char)*letter;
    for (const char *letter = rung; *letter; letter++)
        hash = 31 * hash + (unsigned char)*letter;
    return &rungs[hash % LISTS];
}

void heddle_cuda_rung_add(heddle_cuda_rung *rung)
{
    heddle_cuda_rung **list = list_of(rung->op, rung->rung);
    pthread_mutex_lock(&joining);
    rung->next = *list;
    *list = rung;
    pthread_mutex_unlock(&joining);
}

static heddle_launcher *find(const char *op, const char *rung)
{
    heddle_cuda_rung *const *list = list_of(op, rung);
    pthread_mutex_lock(&joining);
    heddle_cuda_rung *one = *list;
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
