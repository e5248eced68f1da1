// Streams run in order and lazily; default streams, events, callbacks and queries follow CUDA's rules.
#include "check.h"

static int *device;
static int host[COUNT];

static void a_stream_waits_for_nobody_but_itself()
{
    cudaStream_t stream;
    int *pinned;
    WORKS(cudaStreamCreate(&stream));
    WORKS(cudaMallocHost(&pinned, sizeof host));
    for (int i = 0; i < COUNT; i++)
        pinned[i] = 1;
    WORKS(cudaMemcpyAsync(device, pinned, sizeof host, cudaMemcpyHostToDevice, stream));
    add_one<<<BLOCKS, BLOCK, 0, stream>>>(device, COUNT);
    WORKS(cudaMemcpyAsync(pinned, device, sizeof host, cudaMemcpyDeviceToHost, stream));
    GIVES(cudaErrorNotReady, cudaStreamQuery(stream));
    WORKS(cudaStreamSynchronize(stream));
    WORKS(cudaStreamQuery(stream));
    HOLDS(all_are(pinned, 2));
    WORKS(cudaFreeHost(pinned));
    WORKS(cudaStreamDestroy(stream));
}

// The source of a copy from ordinary memory is taken at the call.
static void pageable_sources_may_change_afterwards()
{
    cudaStream_t stream;
    int value = 4;
    WORKS(cudaStreamCreate(&stream));
    WORKS(cudaMemcpyAsync(device, &value, sizeof value, cudaMemcpyHostToDevice, stream));
    value = 0;
    WORKS(cudaMemcpyAsync(&value, device, sizeof value, cudaMemcpyDeviceToHost, stream)); // waits by itself
    HOLDS(value == 4);
    WORKS(cudaStreamDestroy(stream));
}

static void default_streams_meet_the_blocking_ones()
{
    cudaStream_t blocking;
    WORKS(cudaStreamCreate(&blocking));
    set_all<<<BLOCKS, BLOCK, 0, blocking>>>(device, COUNT, 5);
    add_one<<<BLOCKS, BLOCK>>>(device, COUNT); // after the blocking stream's
    add_one<<<BLOCKS, BLOCK, 0, blocking>>>(device, COUNT);
    add_one<<<BLOCKS, BLOCK, 0, cudaStreamLegacy>>>(device, COUNT);
    add_one<<<BLOCKS, BLOCK, 0, cudaStreamPerThread>>>(device, COUNT);
    WORKS(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
    HOLDS(all_are(host, 9));
    WORKS(cudaStreamDestroy(blocking));
}

static void events_tie_streams_together()
{
    cudaStream_t first, second;
    cudaEvent_t done;
    WORKS(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
    WORKS(cudaStreamCreateWithPriority(&second, cudaStreamNonBlocking, -1));
    WORKS(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
    set_all<<<BLOCKS, BLOCK, 0, first>>>(device, COUNT, 1);
    WORKS(cudaEventRecord(done, first));
    WORKS(cudaStreamWaitEvent(second, done, 0));
    add_one<<<BLOCKS, BLOCK, 0, second>>>(device, COUNT);
    GIVES(cudaErrorNotReady, cudaEventQuery(done));
    WORKS(cudaStreamSynchronize(second));
    WORKS(cudaEventQuery(done));
    WORKS(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
    HOLDS(all_are(host, 2));
    WORKS(cudaEventDestroy(done));
    WORKS(cudaStreamDestroy(first));
    WORKS(cudaStreamDestroy(second));
}

static void times_need_events_that_happened()
{
    cudaEvent_t start, end, untimed;
    float milliseconds = -1;
    WORKS(cudaEventCreate(&start));
    WORKS(cudaEventCreate(&end));
    WORKS(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    GIVES(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&milliseconds, start, end));
    WORKS(cudaEventRecord(start));
    add_one<<<BLOCKS, BLOCK>>>(device, COUNT);
    WORKS(cudaEventRecord(end));
    WORKS(cudaEventRecord(untimed));
    GIVES(cudaErrorNotReady, cudaEventElapsedTime(&milliseconds, start, end));
    WORKS(cudaEventSynchronize(end));
    WORKS(cudaEventElapsedTime(&milliseconds, start, end));
    HOLDS(milliseconds > 0);
    WORKS(cudaDeviceSynchronize());
    GIVES(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&milliseconds, start, untimed));
    WORKS(cudaEventDestroy(start));
    WORKS(cudaEventDestroy(end));
    WORKS(cudaEventDestroy(untimed));
    GIVES(cudaErrorInvalidResourceHandle, cudaEventSynchronize(end));
    (void)cudaGetLastError();
}

typedef struct noted {
    int calls, value;
    cudaError_t status, inside;
} noted;

static void callback(cudaStream_t, cudaError_t status, void *data)
{
    noted *note = (noted *)data;
    note->calls++;
    note->status = status;
}

static void function(void *data)
{
    noted *note = (noted *)data;
    note->value = 10 * note->value + note->calls;
    note->inside = cudaDeviceSynchronize();
}

static void functions_of_the_host_run_in_their_turn()
{
    noted note = {0, 0, cudaErrorUnknown, cudaSuccess};
    WORKS(cudaLaunchHostFunc(0, function, &note));
    WORKS(cudaStreamAddCallback(0, callback, &note, 0));
    WORKS(cudaLaunchHostFunc(0, function, &note));
    HOLDS(note.calls == 0);
    WORKS(cudaDeviceSynchronize());
    HOLDS(note.calls == 1 && note.value == 1 && note.status == cudaSuccess);
    HOLDS(note.inside == cudaErrorNotPermitted);
    (void)cudaGetLastError();
}

static void streams_tell_their_flags_and_priority()
{
    cudaStream_t stream;
    int priority, least, greatest;
    unsigned flags;
    WORKS(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    HOLDS(greatest < least);
    WORKS(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest));
    WORKS(cudaStreamGetPriority(stream, &priority));
    WORKS(cudaStreamGetFlags(stream, &flags));
    HOLDS(priority == greatest && flags == cudaStreamNonBlocking);
    WORKS(cudaStreamDestroy(stream));
    GIVES(cudaErrorInvalidResourceHandle, cudaStreamSynchronize(stream));
    GIVES(cudaErrorInvalidResourceHandle, cudaStreamDestroy(stream));
    add_one<<<1, 1, 0, stream>>>(device, 1);
    HOLDS(cudaGetLastError() == cudaErrorInvalidResourceHandle);
}

static void what_a_destroyed_stream_holds_still_runs()
{
    cudaStream_t stream;
    WORKS(cudaMemset(device, 0, sizeof host));
    WORKS(cudaDeviceSynchronize());
    WORKS(cudaStreamCreate(&stream));
    add_one<<<BLOCKS, BLOCK, 0, stream>>>(device, COUNT);
    WORKS(cudaStreamDestroy(stream));
    WORKS(cudaDeviceSynchronize());
    WORKS(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
    HOLDS(all_are(host, 1));
}

int main()
{
    WORKS(cudaMalloc(&device, sizeof host));
    a_stream_waits_for_nobody_but_itself();
    pageable_sources_may_change_afterwards();
    default_streams_meet_the_blocking_ones();
    events_tie_streams_together();
    times_need_events_that_happened();
    functions_of_the_host_run_in_their_turn();
    streams_tell_their_flags_and_priority();
    what_a_destroyed_stream_holds_still_runs();
    WORKS(cudaFree(device));
    return 0;
}
