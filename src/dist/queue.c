// Exchanges on a stream. On cpu one is host work like an operator's; on a GPU it is NCCL's, or MPI's by way of pinned
// memory: a copy out, a host function, a copy back.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "dist/inside.h"

static heddle_status load_nccl(heddle_dist *dist, heddle_device *device)
{
    unsigned char id[HEDDLE_ENGINE_ID] = {0};
    heddle_status status = heddle_engine_load("nccl", &dist->nccl);
    if (status == HEDDLE_OK && dist->ranks.rank == 0)
        status = dist->nccl->identify(id);
    status = heddle_dist_agree(dist, status);
    heddle_exchange bring = {
        .kind = HEDDLE_BROADCAST, .dtype = HEDDLE_U8, .send = id, .receive = id, .count = sizeof id};
    if (status == HEDDLE_OK)
        status = heddle_dist_exchange(dist, HEDDLE_CHANNEL_HOST, &bring);
    // Either all have joined or all go over MPI.
    if (status == HEDDLE_OK)
        status = heddle_dist_agree(dist, dist->nccl->join(id, &dist->ranks, device));
    if (status != HEDDLE_OK)
        dist->nccl = NULL;
    return status;
}

heddle_status heddle_dist_use(heddle_dist *dist, heddle_device *device)
{
    bool gpu = heddle_device_get_kind(device) == HEDDLE_CUDA;
    if (dist->choice == HEDDLE_DIST_NCCL && !gpu)
        return heddle_fail(HEDDLE_INVALID, "NCCL is for GPUs, not for %s; use --dist mpi",
                           heddle_device_kind_name(heddle_device_get_kind(device)));
    if (!gpu || dist->choice == HEDDLE_DIST_MPI)
        return HEDDLE_OK;
    // With auto, ranks that share a GPU (NCCL refuses that) or have no NCCL use MPI.
    heddle_status status = load_nccl(dist, device);
    if (status == HEDDLE_OK || dist->choice != HEDDLE_DIST_AUTO || !dist->mpi)
        return status;
    HEDDLE_TRY(heddle_dist_check(dist)); // a lost rank is another matter
    dist->agreed = false;                // the run goes on: a later failure of one rank is its own
    return HEDDLE_OK;
}

const char *heddle_dist_carrier(const heddle_dist *dist)
{
    return dist->nccl ? "NCCL" : "MPI";
}

typedef struct queued_exchange {
    heddle_dist *dist;
    heddle_channel channel;
    heddle_exchange exchange;
} queued_exchange;

static heddle_status run_queued(const void *arguments)
{
    const queued_exchange *queued = arguments;
    return heddle_dist_exchange(queued->dist, queued->channel, &queued->exchange);
}

// --- by way of pinned memory ----------------------------------------------------------------------------------------

// One that a graph may run at any time until the release.
struct heddle_staged {
    queued_exchange queued;
    struct heddle_staged *next;
};

heddle_status heddle_dist_reserve(heddle_dist *dist, heddle_device *device, size_t bytes)
{
    heddle_device_kind kind = heddle_device_get_kind(device);
    if (kind == HEDDLE_CPU || dist->nccl || bytes <= dist->pinned_bytes)
        return HEDDLE_OK;
    heddle_dist_release(dist);
    HEDDLE_TRY(heddle_alloc_pinned(device, bytes, &dist->pinned));
    dist->pinned_bytes = bytes;
    dist->pinned_on = device;
    return HEDDLE_OK;
}

void heddle_dist_release(heddle_dist *dist)
{
    while (dist->staged) {
        struct heddle_staged *first = dist->staged;
        dist->staged = first->next;
        free(first);
    }
    if (dist->pinned)
        heddle_free_pinned(dist->pinned_on, dist->pinned);
    dist->pinned = NULL;
    dist->pinned_bytes = 0;
}

static void run_staged(void *context)
{
    struct heddle_staged *staged = context;
    heddle_dist *dist = staged->queued.dist;
    heddle_status status = run_queued(&staged->queued);
    int none = HEDDLE_OK;
    // Written once: the message stands before anybody is told to read it.
    if (status != HEDDLE_OK && atomic_load(&dist->failure) == HEDDLE_OK) {
        snprintf(dist->message, sizeof dist->message, "%s", heddle_last_error());
        atomic_compare_exchange_strong(&dist->failure, &none, (int)status);
    }
}

static heddle_status queue_staged(const queued_exchange *queued, heddle_stream *stream)
{
    const heddle_exchange *exchange = &queued->exchange;
    heddle_dist *dist = queued->dist;
    size_t bytes = exchange->count * heddle_dtype_size(exchange->dtype);
    if (exchange->kind != HEDDLE_ALL_REDUCE || exchange->send != exchange->receive)
        return heddle_fail(HEDDLE_UNSUPPORTED, "only sums in place go over MPI from a GPU's memory");
    if (bytes > dist->pinned_bytes)
        return heddle_fail(HEDDLE_INTERNAL, "an exchange of %zu bytes, more than was reserved", bytes);
    struct heddle_staged *staged = calloc(1, sizeof *staged);
    if (!staged)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for an exchange");
    staged->queued = *queued;
    staged->next = dist->staged;
    dist->staged = staged;
    // They follow each other on one stream, so that one place does for all.
    staged->queued.exchange.send = staged->queued.exchange.receive = dist->pinned;
    HEDDLE_TRY(heddle_copy(stream, dist->pinned, exchange->receive, bytes));
    HEDDLE_TRY(heddle_stream_callback(stream, run_staged, staged));
    return heddle_copy(stream, exchange->receive, dist->pinned, bytes);
}

heddle_status heddle_dist_queue(heddle_dist *dist, heddle_channel channel, const heddle_exchange *exchange,
                                heddle_stream *stream)
{
    queued_exchange queued = {.dist = dist, .channel = channel, .exchange = *exchange};
    if (dist->nccl)
        return dist->nccl->queue(exchange, stream);
    if (heddle_device_get_kind(heddle_stream_device(stream)) == HEDDLE_CPU)
        return heddle_stream_submit(stream, run_queued, &queued, sizeof queued);
    return queue_staged(&queued, stream);
}
