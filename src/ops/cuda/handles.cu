// The list of handles. They live until the program ends: a later thread with the number of an ended one inherits its
// handles.

#include "ops/cuda/handles.h"

#include <pthread.h>
#include <stdlib.h>

#include "device/cuda/cuda.h"

typedef struct kept_handle {
    heddle_cuda_make_handle *make;
    int device;
    pthread_t thread;
    void *handle;
    struct kept_handle *next;
} kept_handle;

static kept_handle *kept;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *find(heddle_cuda_make_handle *make, int device)
{
    pthread_mutex_lock(&lock);
    kept_handle *one = kept;
    while (one && (one->make != make || one->device != device || !pthread_equal(one->thread, pthread_self())))
        one = one->next;
    pthread_mutex_unlock(&lock);
    return one ? one->handle : NULL;
}

static void keep(kept_handle *made)
{
    pthread_mutex_lock(&lock);
    made->next = kept;
    kept = made;
    pthread_mutex_unlock(&lock);
}

heddle_status heddle_cuda_handle(const heddle_call *call, heddle_cuda_make_handle *make, void **handle)
{
    int device = heddle_cuda_device_of(call);
    HEDDLE_TRY(heddle_cuda_select(call->stream->device));
    *handle = find(make, device);
    if (*handle)
        return HEDDLE_OK;
    kept_handle *made = (kept_handle *)calloc(1, sizeof *made);
    if (!made)
        return heddle_cuda_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a library's handle");
    // Making a handle allocates, which a capture of this thread would not allow.
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    cudaThreadExchangeStreamCaptureMode(&mode);
    heddle_status status = make(&made->handle);
    cudaThreadExchangeStreamCaptureMode(&mode);
    if (status != HEDDLE_OK) {
        free(made);
        return status;
    }
    made->make = make;
    made->device = device;
    made->thread = pthread_self();
    *handle = made->handle;
    keep(made);
    return HEDDLE_OK;
}
