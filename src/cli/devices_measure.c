// `heddle devices --measure`: bandwidth of copies to, from and on the device, and what its units can do: float32
// multiply-add, shared memory, the second-level cache, launches.

#include "cli/devices.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "bench/timing.h"
#include "device/device.h"
#include "heddle/op.h"
#include "heddle/ops.h"

enum {
    ROUNDS = 7,        // the median is reported
    CPU_MATRIX = 1024, // size of the matrix product that measures the cpu
    ALIGNMENT = 256,   // of its operands
    MEMORY_SHARE = 16, // fraction of the free memory that a copy may use
    CACHE_SHARE = 4,   // fraction of the second-level cache that is read
};
static const size_t most_bytes = (size_t)256 << 20; // several times any cache

static int by_size(const void *a, const void *b)
{
    double first = *(const double *)a, second = *(const double *)b;
    return (first > second) - (first < second);
}

static double median(double *values)
{
    qsort(values, ROUNDS, sizeof *values, by_size);
    return values[ROUNDS / 2];
}

typedef struct device_meter {
    heddle_device *device;
    heddle_stream *stream;
    heddle_event *start, *end;
} device_meter;

// Seconds between the meter's events, after both have occurred.
static heddle_status read_meter(const device_meter *meter, double *seconds)
{
    double milliseconds = 0;
    HEDDLE_TRY(heddle_event_synchronize(meter->end));
    HEDDLE_TRY(heddle_event_elapsed(meter->start, meter->end, &milliseconds));
    *seconds = milliseconds * 1e-3;
    return HEDDLE_OK;
}

static heddle_status time_copy(const device_meter *meter, void *to, const void *from, size_t bytes, double *seconds)
{
    double times[ROUNDS];
    HEDDLE_TRY(heddle_copy(meter->stream, to, from, bytes)); // touches the pages, not counted
    for (int i = 0; i < ROUNDS; i++) {
        HEDDLE_TRY(heddle_event_record(meter->start, meter->stream));
        HEDDLE_TRY(heddle_copy(meter->stream, to, from, bytes));
        HEDDLE_TRY(heddle_event_record(meter->end, meter->stream));
        HEDDLE_TRY(read_meter(meter, &times[i]));
    }
    *seconds = median(times);
    return HEDDLE_OK;
}

// Copies in both directions between the device and one kind of host memory.
static heddle_status measure_host(const device_meter *meter, void *host, void *device, size_t bytes, double *to,
                                  double *from)
{
    double seconds = 0;
    memset(host, 0, bytes);
    HEDDLE_TRY(time_copy(meter, device, host, bytes, &seconds));
    *to = (double)bytes / seconds;
    HEDDLE_TRY(time_copy(meter, host, device, bytes, &seconds));
    *from = (double)bytes / seconds;
    return HEDDLE_OK;
}

// Measured as in `heddle bench`, so that both agree.
static heddle_status measure_copy(const device_meter *meter, double *bandwidth)
{
    heddle_bench_timer *timer;
    HEDDLE_TRY(heddle_bench_timer_create(meter->device, meter->stream, &timer));
    heddle_status status = heddle_bench_copy_bandwidth(timer, bandwidth);
    heddle_bench_timer_destroy(timer);
    return status;
}

static heddle_status measure_transfers(const device_meter *meter, size_t bytes, void *device, void *pinned,
                                       void *pageable, device_speeds *speeds)
{
    HEDDLE_TRY(measure_host(meter, pinned, device, bytes, &speeds->to_device_pinned, &speeds->from_device_pinned));
    return measure_host(meter, pageable, device, bytes, &speeds->to_device_pageable, &speeds->from_device_pageable);
}

static heddle_status measure_memory(const device_meter *meter, device_speeds *speeds)
{
    heddle_device_info info;
    HEDDLE_TRY(measure_copy(meter, &speeds->copy));
    if (heddle_device_get_kind(meter->device) == HEDDLE_CPU)
        return HEDDLE_OK; // host and device share their memory
    HEDDLE_TRY(heddle_device_describe(meter->device, &info));
    size_t bytes = info.memory_free / MEMORY_SHARE < most_bytes ? info.memory_free / MEMORY_SHARE : most_bytes;
    void *device = NULL, *pinned = NULL, *pageable = bytes > 0 ? malloc(bytes) : NULL;
    if (!pageable)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "not enough memory to measure copies");
    heddle_status status = heddle_alloc(meter->device, bytes, &device);
    if (status == HEDDLE_OK)
        status = heddle_alloc_pinned(meter->device, bytes, &pinned);
    if (status == HEDDLE_OK)
        status = measure_transfers(meter, bytes, device, pinned, pageable, speeds);
    speeds->bytes = bytes;
    heddle_free(meter->device, device);
    heddle_free_pinned(meter->device, pinned);
    free(pageable);
    return status;
}

// --- units -----------------------------------------------------------------------------------------------------------

static heddle_status measure_unit(const device_meter *meter, heddle_device_unit unit, void *memory, size_t bytes,
                                  double *per_second)
{
    double times[ROUNDS], amount = 0;
    HEDDLE_TRY(heddle_device_exercise(meter->stream, unit, memory, bytes, &amount)); // raises the clock, not counted
    for (int i = 0; i < ROUNDS; i++) {
        HEDDLE_TRY(heddle_event_record(meter->start, meter->stream));
        HEDDLE_TRY(heddle_device_exercise(meter->stream, unit, memory, bytes, &amount));
        HEDDLE_TRY(heddle_event_record(meter->end, meter->stream));
        HEDDLE_TRY(read_meter(meter, &times[i]));
    }
    *per_second = amount / median(times);
    return HEDDLE_OK;
}

static heddle_status measure_units(const device_meter *meter, device_speeds *speeds)
{
    heddle_device_info info;
    void *memory = NULL;
    HEDDLE_TRY(measure_unit(meter, HEDDLE_UNIT_FLOAT32, NULL, 0, &speeds->flops));
    HEDDLE_TRY(measure_unit(meter, HEDDLE_UNIT_SHARED, NULL, 0, &speeds->shared));
    HEDDLE_TRY(measure_unit(meter, HEDDLE_UNIT_LAUNCH, NULL, 0, &speeds->launches));
    HEDDLE_TRY(heddle_device_describe(meter->device, &info));
    size_t bytes = info.cache / CACHE_SHARE;
    if (bytes == 0)
        return HEDDLE_OK;
    HEDDLE_TRY(heddle_alloc(meter->device, bytes, &memory));
    heddle_status status = measure_unit(meter, HEDDLE_UNIT_CACHE, memory, bytes, &speeds->cache);
    heddle_free(meter->device, memory);
    return status;
}

static heddle_status time_product(const device_meter *meter, const heddle_op *op, const heddle_rung *rung,
                                  const heddle_call *call, double *flops)
{
    double times[ROUNDS];
    for (int i = -1; i < ROUNDS; i++) { // the first is not counted
        double began = heddle_now();
        HEDDLE_TRY(heddle_launch(op, rung, call));
        HEDDLE_TRY(heddle_stream_synchronize(meter->stream));
        if (i >= 0)
            times[i] = heddle_now() - began;
    }
    *flops = op->cost(call->shape).flops / median(times);
    return HEDDLE_OK;
}

// The host has no such kernel: the best rung of a matrix product is close enough.
static heddle_status measure_product(const device_meter *meter, double *flops)
{
    const heddle_op *op;
    const heddle_rung *rung;
    heddle_matmul_shape shape = {.m = CPU_MATRIX, .n = CPU_MATRIX, .k = CPU_MATRIX, .alpha = 1};
    const size_t elements = (size_t)CPU_MATRIX * CPU_MATRIX, bytes = elements * sizeof(float);
    heddle_device_info info;
    HEDDLE_TRY(heddle_device_describe(meter->device, &info));
    HEDDLE_TRY(heddle_op_find("matmul_forward", &op));
    HEDDLE_TRY(heddle_rung_choose(op, HEDDLE_CPU, HEDDLE_FUSED, HEDDLE_FULL, &shape, &rung));
    size_t workspace = rung->workspace ? rung->workspace(&shape, info.threads) : 0;
    float *matrices = NULL;
    HEDDLE_TRY(heddle_alloc(meter->device, 3 * bytes + ALIGNMENT + workspace, (void **)&matrices));
    for (size_t i = 0; i < 3 * elements; i++)
        matrices[i] = 1;
    heddle_call call = {.shape = &shape, .stream = meter->stream, .workspace = matrices + 3 * elements};
    call.input[0] = matrices;
    call.input[1] = matrices + elements;
    call.output[0] = matrices + 2 * elements;
    heddle_status status = time_product(meter, op, rung, &call, flops);
    heddle_free(meter->device, matrices);
    return status;
}

static heddle_status measure_all(const device_meter *meter, device_speeds *speeds)
{
    HEDDLE_TRY(measure_memory(meter, speeds));
    return heddle_device_get_kind(meter->device) == HEDDLE_CPU ? measure_product(meter, &speeds->flops)
                                                               : measure_units(meter, speeds);
}

heddle_status heddle_cli_measure_device(heddle_device *device, device_speeds *speeds)
{
    device_meter meter = {.device = device};
    memset(speeds, 0, sizeof *speeds);
    if (heddle_device_get_kind(device) == HEDDLE_SIM)
        return heddle_fail(HEDDLE_UNSUPPORTED, "the simulated GPU does not report timings");
    heddle_status status = heddle_stream_create(device, 0, &meter.stream);
    if (status == HEDDLE_OK)
        status = heddle_event_create(device, &meter.start);
    if (status == HEDDLE_OK)
        status = heddle_event_create(device, &meter.end);
    if (status == HEDDLE_OK)
        status = measure_all(&meter, speeds);
    speeds->measured = status == HEDDLE_OK;
    if (meter.end)
        heddle_event_destroy(meter.end);
    if (meter.start)
        heddle_event_destroy(meter.start);
    if (meter.stream)
        heddle_stream_destroy(meter.stream);
    return status;
}
