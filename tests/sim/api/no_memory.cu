// The host runs out of memory at every allocation that the runtime makes for itself, one after the other: the call that
// needed it fails with cudaErrorMemoryAllocation, and the program goes on. Each attempt is a process of its own.
#include "check.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

// refuse.c
extern "C" void refuse_after(long successes, int forever);
extern "C" int refused_any(void);

static cudaError_t worst = cudaSuccess;
static int failed_at;

// Later calls may fail because of the first: only that one's error counts.
static bool went_well(cudaError_t error, int line)
{
    if (error == cudaSuccess || error == cudaErrorNotReady)
        return true;
    if (worst == cudaSuccess) {
        worst = error;
        failed_at = line;
    }
    return false;
}

#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        if (!went_well((call), __LINE__))                                                                              \
            return;                                                                                                    \
    } while (0)

__device__ int variable;

static void nothing(void *data)
{
    (void)data;
}

static void streams_and_events(int *data)
{
    cudaStream_t first, second;
    cudaEvent_t event;
    TRY(cudaStreamCreate(&first));
    TRY(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    TRY(cudaEventCreate(&event));
    add_one<<<BLOCKS, BLOCK, 0, first>>>(data, COUNT);
    TRY(cudaEventRecord(event, first));
    TRY(cudaStreamWaitEvent(second, event, 0));
    add_one<<<BLOCKS, BLOCK, 0, second>>>(data, COUNT);
    TRY(cudaLaunchHostFunc(second, nothing, nullptr));
    TRY(cudaStreamSynchronize(second));
    TRY(cudaMemsetAsync(data, 0, COUNT * sizeof(int), cudaStreamPerThread));
    TRY(cudaEventSynchronize(event));
    TRY(cudaDeviceSynchronize());
    TRY(cudaGetLastError());
    TRY(cudaEventDestroy(event));
    TRY(cudaStreamDestroy(first));
    TRY(cudaStreamDestroy(second));
}

static void graphs(int *data)
{
    cudaStream_t stream, other;
    cudaEvent_t event;
    cudaGraph_t graph, clone, outer;
    cudaGraphNode_t nodes[8], child;
    size_t count = 8;
    cudaGraphExec_t exec;
    cudaUserObject_t object;
    TRY(cudaStreamCreate(&stream));
    TRY(cudaStreamCreate(&other));
    TRY(cudaEventCreate(&event));
    TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    add_one<<<BLOCKS, BLOCK, 0, stream>>>(data, COUNT);
    TRY(cudaEventRecord(event, stream));
    TRY(cudaStreamWaitEvent(other, event, 0));
    set_all<<<BLOCKS, BLOCK, 0, stream>>>(data, COUNT, 2);
    TRY(cudaEventRecord(event, other));
    TRY(cudaStreamWaitEvent(stream, event, 0));
    TRY(cudaStreamEndCapture(stream, &graph));
    TRY(cudaUserObjectCreate(&object, nullptr, nothing, 1, cudaUserObjectNoDestructorSync));
    TRY(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
    TRY(cudaGraphClone(&clone, graph));
    TRY(cudaGraphGetRootNodes(clone, nodes, &count));
    TRY(cudaGraphCreate(&outer, 0));
    TRY(cudaGraphAddChildGraphNode(&child, outer, nullptr, 0, clone));
    TRY(cudaGraphAddEmptyNode(&nodes[0], outer, &child, 1));
    TRY(cudaGraphInstantiate(&exec, outer, 0));
    TRY(cudaGraphLaunch(exec, stream));
    TRY(cudaGraphLaunch(exec, stream));
    TRY(cudaStreamSynchronize(stream));
    TRY(cudaGraphExecDestroy(exec));
    TRY(cudaGraphDestroy(outer));
    TRY(cudaGraphDestroy(clone));
    TRY(cudaGraphDestroy(graph));
}

static void objects()
{
    cudaFuncAttributes attributes;
    cudaMemPool_t pool;
    cudaMemPoolProps properties = {};
    cudaArray_t array;
    cudaMipmappedArray_t mipmap;
    cudaTextureObject_t texture;
    cudaResourceDesc resource = {};
    cudaTextureDesc description = {};
    cudaChannelFormatDesc format = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
    int value = 1;
    TRY(cudaFuncGetAttributes(&attributes, add_one));
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    TRY(cudaMemPoolCreate(&pool, &properties));
    TRY(cudaMallocArray(&array, &format, 16, 16, 0));
    TRY(cudaMallocMipmappedArray(&mipmap, &format, make_cudaExtent(16, 16, 0), 2, 0));
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    TRY(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
    TRY(cudaMemcpyToSymbol(variable, &value, sizeof value));
    TRY(cudaDestroyTextureObject(texture));
    TRY(cudaFreeMipmappedArray(mipmap));
    TRY(cudaFreeArray(array));
}

static void everything()
{
    int *data = nullptr;
    TRY(cudaMalloc(&data, COUNT * sizeof(int)));
    TRY(cudaMemset(data, 0, COUNT * sizeof(int)));
    streams_and_events(data);
    if (worst == cudaSuccess)
        graphs(data);
    if (worst == cudaSuccess)
        objects();
    TRY(cudaFree(data));
}

enum { NOTHING_REFUSED, ALLOCATION_FAILED, STILL_FINE, WRONG_ERROR };

static int attempt(long successes, int forever)
{
    refuse_after(successes, forever);
    everything();
    refuse_after(-1, 0);
    if (!refused_any())
        return NOTHING_REFUSED;
    if (worst == cudaSuccess)
        return STILL_FINE; // something that can be done without
    if (worst == cudaErrorMemoryAllocation)
        return ALLOCATION_FAILED;
    fprintf(stderr, "allocation %ld: line %d gives %s\n", successes, failed_at, cudaGetErrorName(worst));
    return WRONG_ERROR;
}

// Gives how many of the attempts ended in a failed call.
static long attempt_all(int forever)
{
    long count = 0, failed = 0;
    for (int result = STILL_FINE; result != NOTHING_REFUSED; count++) {
        const pid_t child = fork();
        if (child == 0)
            _exit(attempt(count, forever));
        int status = 0;
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
            continue;
        if (!WIFEXITED(status))
            fprintf(stderr, "allocation %ld: the program ends with signal %d\n", count, WTERMSIG(status));
        HOLDS(WIFEXITED(status));
        result = WEXITSTATUS(status);
        HOLDS(result <= STILL_FINE);
        failed += result == ALLOCATION_FAILED;
    }
    return failed;
}

int main()
{
    enum { AT_LEAST = 40 }; // of the calls above need memory
    HOLDS(attempt_all(0) > AT_LEAST);
    HOLDS(attempt_all(1) > AT_LEAST);
    return 0;
}
