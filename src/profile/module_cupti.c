// libheddle-cupti.so, what CUPTI sees of a GPU. For `heddle trace` the CUDA driver loads it into any program whose
// environment names it in CUDA_INJECTION64_PATH: it writes every kernel, copy and set with its times to the file that
// HEDDLE_TRACE_SPANS names, one line each; bench/timeline.c reads them. For `heddle train --profile` heddle loads it
// (record.h): records go to a sink, with the launches they come from, and the nodes of graphs are told as they are
// made. It prints nothing; in a program that is not heddle's it fails silently.

#include <cupti.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "profile/record.h"

// Small buffers, soon handed over: only then is it known that there is enough.
enum { BUFFER_BYTES = 256 << 10, BUFFER_ALIGNMENT = 8, FLUSH_MILLISECONDS = 20 };

static FILE *spans;
static heddle_gpu_sink sink; // without `record`: the file
static int64_t ahead;        // by how much CUPTI's clock is before CLOCK_MONOTONIC, in nanoseconds
static uint64_t paused;      // when recording ended, on CUPTI's clock; 0: it has not
static size_t dropped;
static pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER;

// Records grow from version to version of CUPTI, and only at their end: these are the oldest that CUDA 12 and 13 know.
typedef CUpti_ActivityKernel9 kernel_record;
typedef CUpti_ActivityMemcpy5 copy_record;
typedef CUpti_ActivityMemset4 set_record;

static char letter_of(const copy_record *copy)
{
    switch (copy->copyKind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOA: return 'I';
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOH: return 'O';
    default: return 'D';
    }
}

// --- records for heddle itself ---------------------------------------------------------------------------------------

static uint64_t on_our_clock(uint64_t time)
{
    return (uint64_t)((int64_t)time - ahead);
}

// Whether a record's times can be used. CUPTI sets both to 0 where it could not measure. A kernel that was still
// running when recording ended gets a wrong end, long after the true one.
static bool has_times(uint64_t start, uint64_t end)
{
    return start > 0 && end >= start && (!paused || end <= paused);
}

static void give_kernel(const kernel_record *kernel)
{
    if (!has_times(kernel->start, kernel->end))
        return;
    const heddle_gpu_record record = {.kind = HEDDLE_GPU_KERNEL,
                                      .stream = kernel->streamId,
                                      .correlation = kernel->correlationId,
                                      .begin = on_our_clock(kernel->start),
                                      .end = on_our_clock(kernel->end),
                                      .node = kernel->graphNodeId};
    sink.record(sink.context, &record, kernel->name);
}

static void give_copy(const copy_record *copy)
{
    if (!has_times(copy->start, copy->end))
        return;
    const char letter = letter_of(copy);
    const heddle_gpu_record record = {.kind = letter == 'I'   ? HEDDLE_GPU_COPY_IN
                                              : letter == 'O' ? HEDDLE_GPU_COPY_OUT
                                                              : HEDDLE_GPU_COPY_INSIDE,
                                      .stream = copy->streamId,
                                      .correlation = copy->correlationId,
                                      .begin = on_our_clock(copy->start),
                                      .end = on_our_clock(copy->end),
                                      .bytes = copy->bytes,
                                      .node = copy->graphNodeId};
    sink.record(sink.context, &record, NULL);
}

static void give_set(const set_record *set)
{
    if (!has_times(set->start, set->end))
        return;
    const heddle_gpu_record record = {.kind = HEDDLE_GPU_SET,
                                      .stream = set->streamId,
                                      .correlation = set->correlationId,
                                      .begin = on_our_clock(set->start),
                                      .end = on_our_clock(set->end),
                                      .bytes = set->bytes,
                                      .node = set->graphNodeId};
    sink.record(sink.context, &record, NULL);
}

// Only calls that launch something: others would be most of the records, and nothing belongs to them.
static void give_launch(const CUpti_ActivityAPI *call)
{
    const char *name = NULL;
    if (cuptiGetCallbackName(CUPTI_CB_DOMAIN_RUNTIME_API, call->cbid, &name) != CUPTI_SUCCESS || !name ||
        !has_times(call->start, call->end) ||
        !(strstr(name, "Launch") || strstr(name, "Memcpy") || strstr(name, "Memset")))
        return;
    const heddle_gpu_record record = {.kind = HEDDLE_GPU_LAUNCH,
                                      .correlation = call->correlationId,
                                      .begin = on_our_clock(call->start),
                                      .end = on_our_clock(call->end)};
    sink.record(sink.context, &record, name);
}

static void give_record(const CUpti_Activity *record)
{
    const CUpti_ActivityExternalCorrelation *external = (const CUpti_ActivityExternalCorrelation *)record;
    const CUpti_ActivityMarker2 *marker = (const CUpti_ActivityMarker2 *)record;
    const heddle_gpu_record range = {.kind = HEDDLE_GPU_RANGE};
    switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: give_kernel((const kernel_record *)record); break;
    case CUPTI_ACTIVITY_KIND_MEMCPY: give_copy((const copy_record *)record); break;
    case CUPTI_ACTIVITY_KIND_MEMSET: give_set((const set_record *)record); break;
    case CUPTI_ACTIVITY_KIND_RUNTIME: give_launch((const CUpti_ActivityAPI *)record); break;
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: {
        const heddle_gpu_record link = {
            .kind = HEDDLE_GPU_EXTERNAL, .correlation = external->correlationId, .tag = (int32_t)external->externalId};
        sink.record(sink.context, &link, NULL);
        break;
    }
    case CUPTI_ACTIVITY_KIND_MARKER:
        if (marker->name)
            sink.record(sink.context, &range, marker->name);
        break;
    default: break;
    }
}

// --- lines for `heddle trace` ----------------------------------------------------------------------------------------

static void write_record(const CUpti_Activity *record)
{
    const kernel_record *kernel = (const kernel_record *)record;
    const copy_record *copy = (const copy_record *)record;
    const set_record *set = (const set_record *)record;
    switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        fprintf(spans, "K %llu %llu %u 0 %s\n", (unsigned long long)kernel->start, (unsigned long long)kernel->end,
                kernel->streamId, kernel->name);
        break;
    case CUPTI_ACTIVITY_KIND_MEMCPY:
        fprintf(spans, "%c %llu %llu %u %llu\n", letter_of(copy), (unsigned long long)copy->start,
                (unsigned long long)copy->end, copy->streamId, (unsigned long long)copy->bytes);
        break;
    case CUPTI_ACTIVITY_KIND_MEMSET:
        fprintf(spans, "S %llu %llu %u %llu\n", (unsigned long long)set->start, (unsigned long long)set->end,
                set->streamId, (unsigned long long)set->bytes);
        break;
    default: break;
    }
}

static void CUPTIAPI give_buffer(uint8_t **buffer, size_t *size, size_t *most_records)
{
    *buffer = aligned_alloc(BUFFER_ALIGNMENT, BUFFER_BYTES);
    *size = *buffer ? BUFFER_BYTES : 0;
    *most_records = 0; // as many as fit
}

static void CUPTIAPI take_buffer(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
    (void)size;
    CUpti_Activity *record = NULL;
    size_t lost = 0;
    pthread_mutex_lock(&writing);
    while ((spans || sink.record) && valid && cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS)
        if (sink.record)
            give_record(record);
        else
            write_record(record);
    if (cuptiActivityGetNumDroppedRecords(context, stream, &lost) == CUPTI_SUCCESS)
        dropped += lost;
    pthread_mutex_unlock(&writing);
    free(buffer);
}

// --- inside of heddle ------------------------------------------------------------------------------------------------

static CUpti_SubscriberHandle subscriber;
static __thread int32_t current = -1; // the call that this thread is queueing

// A node that is captured is made in the thread that captures; a graph that is instantiated has copies of all.
static void CUPTIAPI on_node(void *context, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *about)
{
    (void)context;
    if (domain != CUPTI_CB_DOMAIN_RESOURCE || !sink.node)
        return;
    const CUpti_GraphData *graph = ((const CUpti_ResourceData *)about)->resourceDescriptor;
    uint64_t node = 0, from = 0;
    if (cuptiGetGraphNodeId(graph->node, &node) != CUPTI_SUCCESS)
        return;
    if (id == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED && current >= 0)
        sink.node(sink.context, node, 0, current);
    else if (id == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED &&
             cuptiGetGraphNodeId(graph->originalNode, &from) == CUPTI_SUCCESS)
        sink.node(sink.context, node, from, -1);
}

static const CUpti_ActivityKind wanted[] = {
    CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
    CUPTI_ACTIVITY_KIND_MEMCPY,
    CUPTI_ACTIVITY_KIND_MEMSET,
    CUPTI_ACTIVITY_KIND_RUNTIME,
    CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
};
enum { WANTED = sizeof wanted / sizeof *wanted };

static int refuse(CUptiResult result, const char *what, char *why, size_t size)
{
    const char *reason = "unknown error";
    cuptiGetResultString(result, &reason);
    snprintf(why, size, "no times of kernels: %s: %s%s", what, reason,
             result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED
                 ? "; another profiler is attached, which sees the NVTX ranges"
             : result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES
                 ? "; allow it with the driver option NVreg_RestrictProfilingToAdminUsers=0, or run as root"
                 : "");
    memset(&sink, 0, sizeof sink);
    return 1;
}

static int64_t monotonic(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

// NVTX ranges come to CUPTI where it is named as the tool that takes them, before the first of them.
static void take_ranges(void)
{
    Dl_info library;
    if (!getenv("NVTX_INJECTION64_PATH") && dladdr((void *)cuptiActivityEnable, &library) && library.dli_fname) {
        setenv("NVTX_INJECTION64_PATH", library.dli_fname, 0);
        cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MARKER); // a profile is complete without them
    }
}

__attribute__((visibility("default"))) heddle_gpu_start heddle_cupti_start;
__attribute__((visibility("default"))) heddle_gpu_stop heddle_cupti_pause;
__attribute__((visibility("default"))) heddle_gpu_stop heddle_cupti_stop;
__attribute__((visibility("default"))) heddle_gpu_enter heddle_cupti_enter;

int heddle_cupti_start(const heddle_gpu_sink *to, char *why, size_t size)
{
    uint64_t theirs = 0;
    if (spans) {
        snprintf(why, size, "no times of kernels: `heddle trace` is attached, and has them");
        return 1;
    }
    sink = *to;
    paused = 0;
    CUptiResult result = cuptiSubscribe(&subscriber, on_node, NULL);
    if (result != CUPTI_SUCCESS)
        return refuse(result, "cuptiSubscribe", why, size);
    cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
    cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);
    result = cuptiActivityRegisterCallbacks(give_buffer, take_buffer);
    for (int i = 0; i < WANTED && result == CUPTI_SUCCESS; i++)
        result = cuptiActivityEnable(wanted[i]);
    if (result != CUPTI_SUCCESS) {
        cuptiUnsubscribe(subscriber);
        return refuse(result, "cuptiActivityEnable", why, size);
    }
    take_ranges();
    const int64_t before = monotonic();
    if (cuptiGetTimestamp(&theirs) == CUPTI_SUCCESS)
        ahead = (int64_t)theirs - (before + monotonic()) / 2;
    return 0;
}

void heddle_cupti_pause(void)
{
    if (!paused && cuptiGetTimestamp(&paused) != CUPTI_SUCCESS)
        paused = 0;
    for (int i = 0; i < WANTED; i++)
        cuptiActivityDisable(wanted[i]);
    cuptiActivityDisable(CUPTI_ACTIVITY_KIND_MARKER);
}

void heddle_cupti_stop(void)
{
    cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    heddle_cupti_pause();
    cuptiUnsubscribe(subscriber);
    pthread_mutex_lock(&writing);
    memset(&sink, 0, sizeof sink);
    pthread_mutex_unlock(&writing);
}

void heddle_cupti_enter(int32_t tag)
{
    uint64_t last;
    if (current >= 0)
        cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &last);
    current = tag;
    if (tag >= 0)
        cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, (uint64_t)tag);
}

// --- inside of any program -------------------------------------------------------------------------------------------

static void finish(void)
{
    cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    pthread_mutex_lock(&writing);
    if (dropped)
        fprintf(spans, "X %zu\n", dropped);
    fclose(spans);
    spans = NULL;
    pthread_mutex_unlock(&writing);
}

// What the driver calls, by this name, when the program first calls it. 1: all well.
__attribute__((visibility("default"))) int InitializeInjection(void);

int InitializeInjection(void)
{
    const char *path = getenv("HEDDLE_TRACE_SPANS");
    spans = path ? fopen(path, "a") : NULL;
    if (!spans)
        return 0;
    if (cuptiActivityRegisterCallbacks(give_buffer, take_buffer) != CUPTI_SUCCESS ||
        cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) != CUPTI_SUCCESS ||
        cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY) != CUPTI_SUCCESS ||
        cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMSET) != CUPTI_SUCCESS) {
        fclose(spans);
        spans = NULL;
        return 0;
    }
    cuptiActivityFlushPeriod(FLUSH_MILLISECONDS); // a program that is killed has its lines but the last
    atexit(finish);
    return 1;
}
