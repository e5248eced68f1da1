// Scratch memory by stream and thread. A larger request gets another piece, at least twice as large: the smaller ones
// may be part of graphs and stay, and together are never more than the largest.

#include "ops/cuda/scratch.h"

#include <pthread.h>
#include <stdlib.h>

#include "device/cuda/cuda.h"

typedef struct piece {
    heddle_device *device;
    cudaStream_t stream;
    pthread_t thread;
    void *memory;
    size_t bytes;
    struct piece *next;
} piece;

static piece *pieces;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static piece *find(heddle_device *device, cudaStream_t stream, size_t *largest)
{
    piece *found = NULL;
    *largest = 0;
    for (piece *one = pieces; one; one = one->next)
        if (one->device == device && one->stream == stream && pthread_equal(one->thread, pthread_self()) &&
            one->bytes > *largest) {
            *largest = one->bytes;
            found = one;
        }
    return found;
}

static heddle_status add(heddle_device *device, cudaStream_t stream, size_t bytes, piece **added)
{
    piece *made = (piece *)calloc(1, sizeof *made);
    if (!made)
        return heddle_cuda_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a library's workspace");
    heddle_status status = heddle_cuda_alloc(device, bytes, &made->memory);
    if (status != HEDDLE_OK) {
        free(made);
        return status;
    }
    made->device = device;
    made->stream = stream;
    made->thread = pthread_self();
    made->bytes = bytes;
    made->next = pieces;
    pieces = *added = made;
    return HEDDLE_OK;
}

heddle_status heddle_cuda_scratch(const heddle_call *call, size_t bytes, void **memory)
{
    heddle_device *device = call->stream->device;
    cudaStream_t stream = heddle_cuda_raw(call->stream);
    heddle_status status = HEDDLE_OK;
    size_t largest;
    *memory = NULL;
    if (bytes == 0)
        return HEDDLE_OK;
    pthread_mutex_lock(&lock);
    piece *used = find(device, stream, &largest);
    if (largest < bytes)
        status = add(device, stream, bytes > 2 * largest ? bytes : 2 * largest, &used);
    if (status == HEDDLE_OK)
        *memory = used->memory;
    pthread_mutex_unlock(&lock);
    return status;
}

void heddle_cuda_scratch_drop(heddle_device *device)
{
    pthread_mutex_lock(&lock);
    for (piece **link = &pieces; *link;) {
        piece *one = *link;
        if (one->device != device) {
            link = &one->next;
            continue;
        }
        *link = one->next;
        heddle_cuda_free(device, one->memory, one->bytes);
        free(one);
    }
    pthread_mutex_unlock(&lock);
}
