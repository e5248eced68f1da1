// Streams by the handles that the program has of them.
#include <stdlib.h>

#include "api/call.h"
#include "api/stream.h"

static __thread struct CUstream_st *own_default; // cudaStreamPerThread
static bool zero_is_own;                         // --default-stream per-thread
static uint64_t stream_count;

int sim_default_stream_per_thread(void)
{
    zero_is_own = true;
    return 0;
}

// Streams that are destroyed, empty and waited for: nothing meets them any more, but their handles stay known.
static struct CUstream_st *gone;

static void sweep(void)
{
    for (struct CUstream_st **link = &sim_streams; *link != NULL;) {
        struct CUstream_st *stream = *link;
        if (!stream->chain_ended || !sim_host_waited_for_clock(&stream->clock)) {
            link = &stream->next;
            continue;
        }
        *link = stream->next;
        stream->next = gone;
        gone = stream;
        sim_order_clear(&stream->clock);
        free(stream->capture_after);
        stream->capture_after = NULL;
    }
}

struct CUstream_st *sim_stream_new(unsigned flags, int priority)
{
    sweep();
    struct CUstream_st *stream = calloc(1, sizeof *stream);
    const size_t chain = stream != NULL ? sim_chain_new() : SIM_NO_CHAIN;
    if (chain == SIM_NO_CHAIN) {
        free(stream);
        sim_no_memory();
        return NULL;
    }
    stream->live = true;
    stream->flags = flags;
    stream->priority = priority;
    stream->number = ++stream_count;
    stream->chain = chain;
    stream->next = sim_streams;
    sim_streams = stream;
    return stream;
}

static struct CUstream_st *find(struct CUstream_st *list, cudaStream_t handle)
{
    while (list != NULL && list != handle)
        list = list->next;
    return list;
}

struct CUstream_st *sim_stream_of(cudaStream_t handle)
{
    if (handle == cudaStreamPerThread || (handle == NULL && zero_is_own)) {
        if (own_default == NULL)
            own_default = sim_stream_new(cudaStreamDefault, 0);
        return own_default;
    }
    if (handle == NULL || handle == cudaStreamLegacy)
        return sim_stream_legacy();
    struct CUstream_st *stream = find(sim_streams, handle);
    if (stream != NULL && stream->live)
        return stream;
    if (stream != NULL || find(gone, handle) != NULL)
        sim_fail(cudaErrorInvalidResourceHandle, "the stream has been destroyed");
    else
        sim_fail(cudaErrorInvalidResourceHandle, "there is no such stream; was it created, and did that succeed?");
    return NULL;
}
