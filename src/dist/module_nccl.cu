// libheddle-nccl.so: exchanges between GPUs over NCCL, queued on the streams of the cuda device and captured with them.

#include <nccl.h>
#include <stdio.h>
#include <string.h>

#include "device/cuda/cuda.h"
#include "dist/engine.h"

static_assert(sizeof(ncclUniqueId) <= HEDDLE_ENGINE_ID, "a group's name is longer than there is room for");

static const heddle_engine_host *library;
static ncclComm_t group;

static heddle_status checked(ncclResult_t result, const char *what)
{
    if (result == ncclSuccess)
        return HEDDLE_OK;
    return library->fail(HEDDLE_DEVICE, "NCCL: %s failed: %s; NCCL_DEBUG=WARN says more", what,
                         ncclGetErrorString(result));
}

static const char *describe(void)
{
    static char text[32];
    int version = 0; // 22803 for 2.28.3
    ncclGetVersion(&version);
    snprintf(text, sizeof text, "NCCL %d.%d.%d", version / 10000, version / 100 % 100, version % 100);
    return text;
}

static heddle_status identify(unsigned char id[HEDDLE_ENGINE_ID])
{
    ncclUniqueId made;
    HEDDLE_TRY(checked(ncclGetUniqueId(&made), "naming the group"));
    memcpy(id, &made, sizeof made);
    return HEDDLE_OK;
}

static heddle_status join(const unsigned char id[HEDDLE_ENGINE_ID], const heddle_ranks *ranks, heddle_device *device)
{
    ncclUniqueId name;
    memcpy(&name, id, sizeof name);
    if (cudaSetDevice(heddle_cuda_index(device)) != cudaSuccess)
        return library->fail(HEDDLE_DEVICE, "NCCL: GPU %d cannot be used", heddle_cuda_index(device));
    return checked(ncclCommInitRank(&group, ranks->ranks, name, ranks->rank), "joining the group");
}

static heddle_status queue(const heddle_exchange *exchange, heddle_stream *stream)
{
    cudaStream_t raw = heddle_cuda_raw(stream);
    const void *send = exchange->send;
    void *receive = exchange->receive;
    size_t count = exchange->count;
    ncclDataType_t type = exchange->dtype == HEDDLE_F64 ? ncclDouble : ncclFloat;
    if (exchange->dtype != HEDDLE_F32 && exchange->dtype != HEDDLE_F64)
        return library->fail(HEDDLE_UNSUPPORTED, "NCCL: only floats and doubles are exchanged");
    switch (exchange->kind) {
    case HEDDLE_ALL_REDUCE:
        return checked(ncclAllReduce(send, receive, count, type, ncclSum, group, raw), "a sum over ranks");
    case HEDDLE_BROADCAST:
        return checked(ncclBroadcast(send, receive, count, type, exchange->root, group, raw), "a broadcast");
    case HEDDLE_ALL_GATHER: return checked(ncclAllGather(send, receive, count, type, group, raw), "a gather");
    case HEDDLE_REDUCE_SCATTER:
        return checked(ncclReduceScatter(send, receive, count, type, ncclSum, group, raw), "a scattered sum");
    default: return library->fail(HEDDLE_INTERNAL, "NCCL: no such exchange");
    }
}

static void leave(void)
{
    ncclCommDestroy(group);
    group = NULL;
}

static heddle_engine engine;

extern "C" HEDDLE_API const heddle_engine *heddle_engine_start(const heddle_engine_host *host)
{
    library = host;
    engine.version = HEDDLE_ENGINE_VERSION;
    engine.describe = describe;
    engine.identify = identify;
    engine.join = join;
    engine.queue = queue;
    engine.leave = leave;
    return host->version == HEDDLE_ENGINE_VERSION ? &engine : NULL;
}
