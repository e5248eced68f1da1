// The cpu backend's table, and opening and closing the device.

#include "device/cpu/cpu.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/threads.h"

// Long enough to bridge the gap to the next submission, short beside what a sleep and a wake cost.
static const double executor_spin_seconds = 20e-6;
static const double caller_spin_seconds = 10e-6;

// Critical sections are far shorter than a sleep: the adaptive kind spins for the lock first.
static void init_lock(pthread_mutex_t *lock)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
#ifdef PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ADAPTIVE_NP);
#endif
    pthread_mutex_init(lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

static void free_device(struct cpu_device *device)
{
    heddle_cpu_stop_executors(device);
    heddle_cpu_free_objects(device);
    heddle_pool_destroy(device->pool);
    pthread_cond_destroy(&device->progress);
    pthread_cond_destroy(&device->work);
    pthread_mutex_destroy(&device->lock);
    free(device);
}

static heddle_status cpu_open(int index, int threads, heddle_device **device)
{
    (void)index; // there is one
    struct cpu_device *opened = calloc(1, sizeof *opened);
    if (!opened)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the cpu device");
    opened->cores = heddle_usable_cores();
    // On a single core, whoever spins keeps the one it waits for from running.
    if (opened->cores > 1) {
        opened->executor_spin = executor_spin_seconds;
        opened->caller_spin = caller_spin_seconds;
    }
    uint64_t available = 0;
    heddle_cpu_memory(&opened->memory_total, &available);
    init_lock(&opened->lock);
    pthread_cond_init(&opened->work, NULL);
    pthread_cond_init(&opened->progress, NULL);

    heddle_status status = heddle_pool_create(threads, &opened->pool);
    if (status == HEDDLE_OK)
        status = heddle_cpu_reserve_items(opened);
    if (status == HEDDLE_OK)
        status = heddle_cpu_start_executors(opened);
    if (status != HEDDLE_OK) {
        free_device(opened);
        return status;
    }
    *device = &opened->base;
    return HEDDLE_OK;
}

static void cpu_close(heddle_device *device_)
{
    struct cpu_device *device = cpu_device_of(device_);
    heddle_cpu_lock(device);
    int streams = 0;
    while (device->streams) {
        struct cpu_stream *stream = device->streams;
        heddle_cpu_drain(stream);
        heddle_cpu_stream_free(stream);
        streams++;
    }
    heddle_cpu_unlock(device);
    if (streams + device->events + device->graphs > 0)
        heddle_log(HEDDLE_LOG_WARN, "cpu device closed with %d streams, %d events and %d graphs: destroy them first",
                   streams, device->events, device->graphs);
    free_device(device);
}

static heddle_pool *cpu_pool(heddle_device *device)
{
    return cpu_device_of(device)->pool;
}

const heddle_backend heddle_backend_cpu = {
    .kind = HEDDLE_CPU,
    .open = cpu_open,
    .finish = heddle_cpu_finish,
    .close = cpu_close,
    .describe = heddle_cpu_describe,
    .synchronize = heddle_cpu_synchronize,

    .alloc = heddle_cpu_alloc,
    .free = heddle_cpu_free,
    .alloc_pinned = heddle_cpu_alloc_pinned,
    .free_pinned = heddle_cpu_free_pinned,

    .stream_create = heddle_cpu_stream_create,
    .stream_destroy = heddle_cpu_stream_destroy,
    .stream_synchronize = heddle_cpu_stream_synchronize,
    .stream_query = heddle_cpu_stream_query,
    .stream_wait = heddle_cpu_stream_wait,
    .copy = heddle_cpu_copy,
    .fill = heddle_cpu_fill,
    .callback = heddle_cpu_callback,

    .event_create = heddle_cpu_event_create,
    .event_destroy = heddle_cpu_event_destroy,
    .event_record = heddle_cpu_event_record,
    .event_synchronize = heddle_cpu_event_synchronize,
    .event_query = heddle_cpu_event_query,
    .event_elapsed = heddle_cpu_event_elapsed,

    .capture_begin = heddle_cpu_capture_begin,
    .capture_end = heddle_cpu_capture_end,
    .graph_launch = heddle_cpu_graph_launch,
    .graph_destroy = heddle_cpu_graph_destroy,

    .pool = cpu_pool,
    .submit = heddle_cpu_submit,
    .properties = heddle_cpu_properties,
};
