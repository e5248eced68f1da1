// libheddle-mpi.so: exchanges of host memory over MPI. Everything is started and tested, never waited for inside MPI,
// so that whoever waits can also look whether all ranks are still there.

#include <limits.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "dist/engine.h"

static const heddle_engine_host *library;
static MPI_Comm channels[HEDDLE_CHANNELS];
static MPI_Request requests[HEDDLE_CHANNELS];

static heddle_status failed(const char *what, int code)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(code, text, &length);
    return library->fail(HEDDLE_DEVICE, "MPI: %s failed: %s", what, text);
}

#define TRY(call, what)                                                                                                \
    do {                                                                                                               \
        int try_code = (call);                                                                                         \
        if (try_code != MPI_SUCCESS)                                                                                   \
            return failed(what, try_code);                                                                             \
    } while (0)

static const char *describe(void)
{
    static char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(version, &length);
    version[strcspn(version, ",\n")] = '\0'; // the rest is who packaged it
    return version;
}

static heddle_status find_ranks(heddle_ranks *ranks)
{
    MPI_Comm machine;
    TRY(MPI_Comm_rank(MPI_COMM_WORLD, &ranks->rank), "MPI_Comm_rank");
    TRY(MPI_Comm_size(MPI_COMM_WORLD, &ranks->ranks), "MPI_Comm_size");
    TRY(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine), "MPI_Comm_split_type");
    TRY(MPI_Comm_rank(machine, &ranks->local_rank), "MPI_Comm_rank");
    TRY(MPI_Comm_size(machine, &ranks->local_ranks), "MPI_Comm_size");
    TRY(MPI_Comm_free(&machine), "MPI_Comm_free");
    return HEDDLE_OK;
}

// Settings for Open MPI, unless the environment has them. Its default for a non-blocking sum, binomial or by doubling,
// moves every byte log(ranks) times; Rabenseifner's moves it twice. Between processes of one machine a single copy by
// the kernel, which looks up every page, takes longer than two through a shared buffer that stays in cache.
static void set_preferences(void)
{
    setenv("OMPI_MCA_coll_libnbc_iallreduce_algorithm", "3", 0);
    setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 0);
}

static heddle_status open_ranks(heddle_ranks *ranks)
{
    int provided = MPI_THREAD_SINGLE, initialized = 0, finalized = 0;
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    if (finalized)
        return library->fail(HEDDLE_INVALID, "MPI has been closed in this process and cannot be opened again");
    set_preferences();
    if (initialized)
        TRY(MPI_Query_thread(&provided), "MPI_Query_thread");
    else
        TRY(MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided), "MPI_Init_thread");
    if (provided < MPI_THREAD_SERIALIZED)
        return library->fail(HEDDLE_UNSUPPORTED, "this MPI cannot be called from several threads in turn "
                                                 "(MPI_THREAD_SERIALIZED); use one that was built with threads");
    TRY(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    for (int i = 0; i < HEDDLE_CHANNELS; i++)
        TRY(MPI_Comm_dup(MPI_COMM_WORLD, &channels[i]), "MPI_Comm_dup");
    return find_ranks(ranks);
}

static MPI_Datatype type_of(heddle_dtype dtype)
{
    return dtype == HEDDLE_F32 ? MPI_FLOAT : dtype == HEDDLE_F64 ? MPI_DOUBLE : MPI_BYTE;
}

static heddle_status start(heddle_channel channel, const heddle_exchange *exchange)
{
    MPI_Comm comm = channels[channel];
    MPI_Request *request = &requests[channel];
    MPI_Datatype type = type_of(exchange->dtype);
    const void *send = exchange->send == exchange->receive ? MPI_IN_PLACE : exchange->send;
    if (exchange->count > INT_MAX)
        return library->fail(HEDDLE_UNSUPPORTED, "%zu elements in one exchange; MPI counts to %d", exchange->count,
                             INT_MAX);
    int count = (int)exchange->count, code = MPI_SUCCESS;
    switch (exchange->kind) {
    case HEDDLE_ALL_REDUCE: code = MPI_Iallreduce(send, exchange->receive, count, type, MPI_SUM, comm, request); break;
    case HEDDLE_BROADCAST: code = MPI_Ibcast(exchange->receive, count, type, exchange->root, comm, request); break;
    case HEDDLE_ALL_GATHER:
        code = MPI_Iallgather(send, count, type, exchange->receive, count, type, comm, request);
        break;
    case HEDDLE_REDUCE_SCATTER:
        code = MPI_Ireduce_scatter_block(send, exchange->receive, count, type, MPI_SUM, comm, request);
        break;
    case HEDDLE_COLLECTIVES: break;
    }
    return code == MPI_SUCCESS ? HEDDLE_OK : failed("an exchange", code);
}

static heddle_status test(heddle_channel channel, bool *done)
{
    int flag = 0;
    TRY(MPI_Test(&requests[channel], &flag, MPI_STATUS_IGNORE), "MPI_Test");
    *done = flag != 0;
    return HEDDLE_OK;
}

static void close_ranks(void)
{
    for (int i = 0; i < HEDDLE_CHANNELS; i++)
        MPI_Comm_free(&channels[i]);
    MPI_Finalize();
}

static const heddle_engine engine = {
    .version = HEDDLE_ENGINE_VERSION,
    .describe = describe,
    .open = open_ranks,
    .start = start,
    .test = test,
    .close = close_ranks,
};

HEDDLE_API const heddle_engine *heddle_engine_start(const heddle_engine_host *host);
const heddle_engine *heddle_engine_start(const heddle_engine_host *host)
{
    library = host;
    return host->version == HEDDLE_ENGINE_VERSION ? &engine : NULL;
}
