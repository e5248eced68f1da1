// NCCL for one process with one rank. Every collective operation is then a copy from what is sent to what is received,
// as work in its stream. In a group, work waits for the outermost ncclGroupEnd, where what is sent meets what is
// received; outside of one, a rank that sends to itself would wait forever.
#include "nccl.h"

#include <stdlib.h>
#include <string.h>

#include "api/blas/blas.h"
#include "sim/runtime_api.h"

struct ncclComm {
    int device;
};

typedef struct collective {
    sim_blas_call call;
    const void *send;
    void *receive;
    size_t count;
    cudaStream_t stream;
    enum { WHOLE, SEND, RECEIVE } part; // of a message from the rank to itself
    ncclComm_t comm;
    ncclDataType_t type;
} collective;

#define TYPE(name, same_size) [name] = {#name, same_size}
static const struct {
    const char *name;
    cudaDataType same_size;
} types[] = {TYPE(ncclInt8, CUDA_R_8I),       TYPE(ncclUint8, CUDA_R_8U),      TYPE(ncclInt32, CUDA_R_32I),
             TYPE(ncclUint32, CUDA_R_32I),    TYPE(ncclInt64, CUDA_R_64F),     TYPE(ncclUint64, CUDA_R_64F),
             TYPE(ncclFloat16, CUDA_R_16F),   TYPE(ncclFloat32, CUDA_R_32F),   TYPE(ncclFloat64, CUDA_R_64F),
             TYPE(ncclBfloat16, CUDA_R_16BF), TYPE(ncclFloat8e4m3, CUDA_R_8U), TYPE(ncclFloat8e5m2, CUDA_R_8U)};

static __thread struct {
    int depth, count, room;
    collective *waiting;
} group;

#define WRONG(call, result, ...) (sim_library_wrong(call, #result, __VA_ARGS__), result)

// --- work -----------------------------------------------------------------------------------------------------------

static void collective_run(const void *work)
{
    const collective *w = work;
    const cudaDataType type = types[w->type].same_size;
    sim_blas_span from = {"sendbuff", w->send, type, w->count, 1, w->count};
    sim_blas_span to = {"recvbuff", w->receive, type, w->count, 1, w->count};
    sim_blas_reads(w->call, &from);
    sim_blas_writes(w->call, &to);
    if (w->count > 0)
        memmove(w->receive, w->send, w->count * sim_blas_size(type));
    sim_blas_written(&to);
}

static ncclResult_t run(const collective *w)
{
    return sim_library_queue(w->stream, w->call, collective_run, w, sizeof *w, false) ? ncclSuccess
                                                                                      : ncclUnhandledCudaError;
}

static ncclResult_t keep(const collective *w)
{
    if (group.count == group.room) {
        int room = group.room ? 2 * group.room : 8;
        collective *more = realloc(group.waiting, (size_t)room * sizeof *more);
        if (!more)
            return ncclSystemError;
        group.waiting = more;
        group.room = room;
    }
    group.waiting[group.count++] = *w;
    return ncclSuccess;
}

static ncclResult_t submit(ncclComm_t comm, int root, ncclDataType_t type, collective w)
{
    if (!comm)
        return WRONG(w.call, ncclInvalidArgument, "the communicator is NULL");
    if ((unsigned)type >= ncclNumTypes || root != 0)
        return WRONG(w.call, ncclInvalidArgument, "data type %d, and rank %d of a communicator with one rank",
                     (int)type, root);
    w.comm = comm;
    w.type = type;
    if (group.depth > 0)
        return keep(&w);
    if (w.part != WHOLE)
        return WRONG(w.call, ncclInvalidUsage, "a rank that sends to itself must send and receive in one group");
    return run(&w);
}

// Messages arrive in the order in which their communicator sends them: the first receive that is left.
static collective *receive_of(const collective *send)
{
    for (int i = 0; i < group.count; i++)
        if (group.waiting[i].part == RECEIVE && group.waiting[i].comm == send->comm)
            return &group.waiting[i];
    return NULL;
}

// Gives each message that is sent to its receive, whose stream does the work.
static ncclResult_t join(void)
{
    for (int i = 0; i < group.count; i++) {
        const collective *send = &group.waiting[i];
        if (send->part != SEND)
            continue;
        collective *receive = receive_of(send);
        if (!receive)
            return WRONG(send->call, ncclInvalidUsage, "no ncclRecv of this communicator is left in the group");
        if (receive->count != send->count || receive->type != send->type)
            return WRONG(send->call, ncclInvalidUsage, "%zu elements of %s are sent; the ncclRecv is of %zu of %s",
                         send->count, types[send->type].name, receive->count, types[receive->type].name);
        receive->send = send->send;
        receive->part = WHOLE;
    }
    for (int i = 0; i < group.count; i++)
        if (group.waiting[i].part == RECEIVE)
            return WRONG(group.waiting[i].call, ncclInvalidUsage, "no ncclSend of %zu elements in the group",
                         group.waiting[i].count);
    return ncclSuccess;
}

ncclResult_t ncclGroupStart(void)
{
    group.depth++;
    return ncclSuccess;
}

ncclResult_t ncclGroupEnd(void)
{
    if (group.depth == 0)
        return WRONG(SIM_BLAS_CALL("ncclGroupEnd"), ncclInvalidUsage, "there is no group to end");
    if (--group.depth > 0)
        return ncclSuccess;
    ncclResult_t result = join();
    for (int i = 0; result == ncclSuccess && i < group.count; i++)
        if (group.waiting[i].part == WHOLE)
            result = run(&group.waiting[i]);
    group.count = 0;
    return result;
}

// --- communicators --------------------------------------------------------------------------------------------------

ncclResult_t ncclGetVersion(int *version)
{
    *version = NCCL_VERSION_CODE;
    return ncclSuccess;
}

const char *ncclGetErrorString(ncclResult_t result)
{
    static const char *const text[] = {"no error",
                                       "unhandled cuda error",
                                       "unhandled system error",
                                       "internal error",
                                       "invalid argument",
                                       "invalid usage",
                                       "remote process exited or there was a network error",
                                       "NCCL operation in progress"};
    return (unsigned)result < ncclNumResults ? text[result] : "unknown result code";
}

const char *ncclGetLastError(ncclComm_t comm)
{
    (void)comm;
    return "";
}

ncclResult_t ncclGetUniqueId(ncclUniqueId *id)
{
    memset(id, 0, sizeof *id);
    return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t *comm, int ranks, ncclUniqueId id, int rank)
{
    (void)id;
    sim_blas_call call = SIM_BLAS_CALL("ncclCommInitRank");
    if (!comm || rank != 0 || ranks != 1)
        return WRONG(call, ncclInvalidArgument, "rank %d of %d: one process with one rank is simulated", rank, ranks);
    *comm = calloc(1, sizeof **comm);
    if (!*comm || cudaGetDevice(&(*comm)->device) != cudaSuccess)
        return ncclSystemError;
    return ncclSuccess;
}

ncclResult_t ncclCommInitAll(ncclComm_t *comms, int count, const int *devices)
{
    sim_blas_call call = SIM_BLAS_CALL("ncclCommInitAll");
    if (!comms || count != 1)
        return WRONG(call, ncclInvalidArgument, "%d devices: one is simulated", count);
    *comms = calloc(1, sizeof **comms);
    if (!*comms)
        return ncclSystemError;
    (*comms)->device = devices ? devices[0] : 0;
    return ncclSuccess;
}

ncclResult_t ncclCommFinalize(ncclComm_t comm)
{
    return comm ? ncclSuccess : ncclInvalidArgument;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm)
{
    free(comm);
    return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t comm)
{
    return ncclCommDestroy(comm);
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *error)
{
    *error = ncclSuccess;
    return comm ? ncclSuccess : ncclInvalidArgument;
}

ncclResult_t ncclCommCount(ncclComm_t comm, int *count)
{
    *count = 1;
    return comm ? ncclSuccess : ncclInvalidArgument;
}

ncclResult_t ncclCommCuDevice(ncclComm_t comm, int *device)
{
    if (!comm)
        return ncclInvalidArgument;
    *device = comm->device;
    return ncclSuccess;
}

ncclResult_t ncclCommUserRank(ncclComm_t comm, int *rank)
{
    *rank = 0;
    return comm ? ncclSuccess : ncclInvalidArgument;
}

// --- operations -----------------------------------------------------------------------------------------------------

#define PART(name, part) ((collective){SIM_BLAS_CALL(name), send, receive, count, stream, part, NULL, ncclInt8})
#define COLLECTIVE(name) PART(name, WHOLE)

// NOLINTBEGIN(readability-non-const-parameter): results are written later, through the work they are put into
ncclResult_t ncclReduce(const void *send, void *receive, size_t count, ncclDataType_t type, ncclRedOp_t op, int root,
                        ncclComm_t comm, cudaStream_t stream)
{
    (void)op;
    return submit(comm, root, type, COLLECTIVE("ncclReduce"));
}

ncclResult_t ncclBroadcast(const void *send, void *receive, size_t count, ncclDataType_t type, int root,
                           ncclComm_t comm, cudaStream_t stream)
{
    return submit(comm, root, type, COLLECTIVE("ncclBroadcast"));
}

ncclResult_t ncclBcast(void *buffer, size_t count, ncclDataType_t type, int root, ncclComm_t comm, cudaStream_t stream)
{
    void *send = buffer, *receive = buffer;
    return submit(comm, root, type, COLLECTIVE("ncclBcast"));
}

ncclResult_t ncclAllReduce(const void *send, void *receive, size_t count, ncclDataType_t type, ncclRedOp_t op,
                           ncclComm_t comm, cudaStream_t stream)
{
    (void)op;
    return submit(comm, 0, type, COLLECTIVE("ncclAllReduce"));
}

ncclResult_t ncclReduceScatter(const void *send, void *receive, size_t count, ncclDataType_t type, ncclRedOp_t op,
                               ncclComm_t comm, cudaStream_t stream)
{
    (void)op;
    return submit(comm, 0, type, COLLECTIVE("ncclReduceScatter"));
}

ncclResult_t ncclAllGather(const void *send, void *receive, size_t count, ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream)
{
    return submit(comm, 0, type, COLLECTIVE("ncclAllGather"));
}

ncclResult_t ncclSend(const void *send, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream)
{
    void *receive = NULL;
    return submit(comm, peer, type, PART("ncclSend", SEND));
}

ncclResult_t ncclRecv(void *receive, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t stream)
{
    const void *send = NULL;
    return submit(comm, peer, type, PART("ncclRecv", RECEIVE));
}
// NOLINTEND(readability-non-const-parameter)
